"""Registered devices: list them, register one, set what its owner wants of it."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat.api.access import HasScope
from compat.api.documents import document, serializer_of
from compat.api.pages import PART, listed, part_of
from compat.api.parsers import BoundedJson
from compat.api.problems import ProblemSerializer
from compat.devices import (
    CLASS_LENGTH,
    SLUG_LENGTH,
    TITLE_LENGTH,
    DeviceRow,
    Standing,
    device_row,
    load_devices,
    register_device,
    set_standing,
)

REFUSED = dict.fromkeys((400, 401, 403, 422), ProblemSerializer)


class AdminForUnsafe(HasScope):
    """Reading is for whoever may read the matrix, changing for administrators."""

    def has_permission(self, request: Request, view: Any) -> bool:
        view.scope = "read" if request.method in ("GET", "HEAD", "OPTIONS") else "admin"
        return super().has_permission(request, view)


class DeviceRequestSerializer(serializers.Serializer[Any]):
    """`runtimes`: what its agent may offer; any when left out."""

    slug = serializers.CharField(max_length=SLUG_LENGTH)
    title = serializers.CharField(max_length=TITLE_LENGTH)
    device_class = serializers.CharField(max_length=CLASS_LENGTH)
    runtimes = serializers.ListField(
        child=serializers.CharField(max_length=40), required=False, max_length=50
    )


class NewDeviceSerializer(serializers.Serializer[Any]):
    """The token is shown this once."""

    device = serializer_of(DeviceRow)()
    token = serializers.CharField()


class StandingSerializer(serializers.Serializer[Any]):
    standing = serializers.ChoiceField(choices=Standing.choices)


class Devices(APIView):
    parser_classes = [BoundedJson]
    permission_classes: list[type[BasePermission]] = [AdminForUnsafe]

    @extend_schema(
        operation_id="list_devices",
        parameters=PART,
        responses=serializer_of(DeviceRow)(many=True),
    )
    def get(self, request: Request) -> Response:
        """Every registered device: online, offline (no heartbeat for 60 s), and so on."""
        part, headers = part_of(request, load_devices())
        return listed(document(part), headers)

    @extend_schema(
        operation_id="register_device",
        request=DeviceRequestSerializer,
        responses={201: NewDeviceSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        """Register a device; the answer has the token for its agent."""
        asked = DeviceRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        device, secret = register_device(**asked.validated_data)
        return Response({"device": document(device_row(device)), "token": secret}, status=201)


class OneDevice(APIView):
    parser_classes = [BoundedJson]
    scope = "admin"

    @extend_schema(
        operation_id="set_device",
        request=StandingSerializer,
        responses={200: serializer_of(DeviceRow), **REFUSED},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Put a device into maintenance, retire it, or take it back."""
        asked = StandingSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        device = set_standing(slug=slug, standing=asked.validated_data["standing"])
        return Response(document(device_row(device)))
