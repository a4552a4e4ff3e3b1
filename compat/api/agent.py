"""What agents call: hello, claim a batch, keep it, give it back. Each call is a heartbeat."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat import agents
from compat.api.parsers import BoundedJson
from compat.api.problems import ProblemSerializer
from compat.exchange import LONGEST_NAME
from compat.models import Device, Target, Token
from compat.wake import wake_address
from probes.protocol import MOST_IN_A_BATCH

MOST_TARGETS = 32
REFUSED = dict.fromkeys((400, 401, 403, 409), ProblemSerializer)
Slug = serializers.SlugField


class OfferSerializer(serializers.Serializer[Any]):
    """A runtime of the device, in one configuration."""

    runtime = Slug(max_length=40)
    runtime_version = serializers.RegexField(r"^[\w.+:-]+$", max_length=LONGEST_NAME)
    config_name = Slug(max_length=40)
    config = serializers.DictField()
    capabilities = serializers.DictField(required=False, default=dict)


class HelloSerializer(serializers.Serializer[Any]):
    """`agent`: this instance; `clock`: its seconds since the epoch."""

    schema = serializers.IntegerField()
    agent = serializers.UUIDField()
    clock = serializers.FloatField()
    device = serializers.DictField(required=False, default=dict)
    targets = serializers.ListField(child=OfferSerializer(), max_length=MOST_TARGETS)


class AgentTargetSerializer(serializers.Serializer[Any]):
    """The head of a results document, with the target's slug beside it."""

    slug = serializers.CharField()
    device = serializers.CharField()
    device_title = serializers.CharField()
    device_class = serializers.CharField()
    runtime = serializers.CharField()
    runtime_version = serializers.CharField()
    config_name = serializers.CharField()
    config = serializers.DictField()


class WakeSerializer(serializers.Serializer[Any]):
    url = serializers.CharField()
    queue = serializers.CharField()


class WelcomeSerializer(serializers.Serializer[Any]):
    """`wake`: where a message says that there is work; null where none is sent."""

    device = serializers.CharField()
    targets = AgentTargetSerializer(many=True)
    lease_s = serializers.FloatField()
    poll_s = serializers.FloatField()
    wake = WakeSerializer(allow_null=True)


class AgentSerializer(serializers.Serializer[Any]):
    agent = serializers.UUIDField()


class ClaimRequestSerializer(AgentSerializer):
    target = serializers.CharField(max_length=260)
    size = serializers.IntegerField(min_value=1, max_value=MOST_IN_A_BATCH)


class ClaimedSerializer(serializers.Serializer[Any]):
    case = serializers.CharField()
    form = serializers.CharField()


class ClaimSerializer(serializers.Serializer[Any]):
    """No probes: nothing waits."""

    claim = serializers.CharField()
    lease_s = serializers.FloatField()
    probes = ClaimedSerializer(many=True)


class ReleaseSerializer(AgentSerializer):
    """`lost`: the agent died with this claim, so that each of its probes counts as lost once."""

    lost = serializers.BooleanField(required=False, default=False)


class HeldSerializer(serializers.Serializer[Any]):
    """How many probes the call was about; 0 when the claim holds nothing any more."""

    probes = serializers.IntegerField()


class AgentView(APIView):
    scope = "results"
    parser_classes = [BoundedJson]
    asks: type[serializers.Serializer[Any]]

    def read(self, request: Request) -> tuple[Device | None, dict[str, Any]]:
        """The token's device and the checked document."""
        asked = self.asks(data=request.data)
        asked.is_valid(raise_exception=True)
        if "agent" in asked.validated_data:
            asked.validated_data["agent"] = str(asked.validated_data["agent"])
        return token_device(request), asked.validated_data


class Hello(AgentView):
    asks = HelloSerializer

    @extend_schema(
        operation_id="agent_hello",
        request=HelloSerializer,
        responses={200: WelcomeSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        """An agent starts: which targets it has here, and how often it should ask."""
        device, asked = self.read(request)
        try:
            targets = agents.greet(
                device=device,
                schema=asked["schema"],
                agent=asked["agent"],
                clock=asked["clock"],
                facts=asked["device"],
                offers=[agents.Offer(**offer) for offer in asked["targets"]],
            )
        except (ValueError, TypeError) as error:
            raise serializers.ValidationError({"targets": str(error)}) from error
        assert device is not None  # greet refuses a token without one
        return Response(
            {
                "device": device.slug,
                "targets": [_target_document(target) for target in targets],
                "lease_s": settings.AGENT_LEASE_S,
                "poll_s": settings.AGENT_POLL_S,
                "wake": wake_address(device.slug),
            }
        )


class Claims(AgentView):
    asks = ClaimRequestSerializer

    @extend_schema(
        operation_id="claim_probes",
        request=ClaimRequestSerializer,
        responses={200: ClaimSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        """Probes of a target that are this agent's until the lease ends."""
        device, asked = self.read(request)
        batch = agents.claim(device=device, **asked)
        probes = [{"case": probe.case_id, "form": probe.form} for probe in batch.probes]
        return Response({"claim": batch.claim, "lease_s": settings.AGENT_LEASE_S, "probes": probes})


class Renew(AgentView):
    asks = AgentSerializer

    @extend_schema(
        operation_id="renew_claim",
        request=AgentSerializer,
        responses={200: HeldSerializer, **REFUSED},
    )
    def post(self, request: Request, claim: str) -> Response:
        """Begin the lease of what a claim still holds anew."""
        device, asked = self.read(request)
        return Response({"probes": agents.renew(device=device, claim=claim, **asked)})


class Release(AgentView):
    asks = ReleaseSerializer

    @extend_schema(
        operation_id="release_claim",
        request=ReleaseSerializer,
        responses={200: HeldSerializer, **REFUSED},
    )
    def post(self, request: Request, claim: str) -> Response:
        """Offer again what a claim still holds."""
        device, asked = self.read(request)
        return Response({"probes": agents.give_back(device=device, claim=claim, **asked)})


def token_device(request: Request) -> Device | None:
    return request.auth.device if isinstance(request.auth, Token) else None


def _target_document(target: Target) -> dict[str, Any]:
    column = target.column
    return {
        "slug": target.slug,
        "device": column.device.slug,
        "device_title": column.device.title,
        "device_class": column.device.device_class,
        "runtime": column.runtime,
        "runtime_version": target.runtime_version,
        "config_name": column.config_name,
        "config": column.config,
    }
