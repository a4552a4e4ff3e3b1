"""Long lists in parts: limit and offset in, the total and the next part's address in headers."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

MOST = 1000


class PartSerializer(serializers.Serializer[Any]):
    """Which part of a list."""

    limit = serializers.IntegerField(min_value=1, max_value=MOST, required=False)
    offset = serializers.IntegerField(min_value=0, max_value=2**31 - 1, required=False, default=0)


PART: list[OpenApiParameter | type[serializers.Serializer[Any]]] = [
    PartSerializer,
    OpenApiParameter(
        "X-Total-Count",
        OpenApiTypes.INT,
        OpenApiParameter.HEADER,
        description="How many there are in all.",
        response=[200],
    ),
    OpenApiParameter(
        "Link",
        OpenApiTypes.STR,
        OpenApiParameter.HEADER,
        description='`<address>; rel="next"` while there are more.',
        response=[200],
    ),
]


def part_of(
    request: Request, rows: Sequence[Any], *, usual: int | None = None
) -> tuple[Sequence[Any], dict[str, str]]:
    """The rows that `limit` and `offset` ask for, and the headers.

    Without a limit all of them, or `usual` of a list that may be very long.
    """
    asked = PartSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    offset = asked.validated_data["offset"]
    end = offset + asked.validated_data.get("limit", usual or len(rows))
    headers = {"X-Total-Count": str(len(rows))}
    if end < len(rows):
        address = replace_query_param(request.build_absolute_uri(), "offset", str(end))
        headers["Link"] = f'<{address}>; rel="next"'
    return rows[offset:end], headers


def listed(documents: Sequence[Any], headers: dict[str, str]) -> Response:
    """The documents of one part."""
    return Response(list(documents), headers=headers)
