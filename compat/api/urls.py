"""Addresses of the API, version 1."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from compat.api import (
    agent,
    cases,
    cells,
    contradictions,
    describe,
    devices,
    limits,
    matrix,
    operators,
    reports,
    results,
    sweeps,
    targets,
)

__all__ = ["describe", "urlpatterns"]

app_name = "api"
urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("operators/", operators.Operators.as_view(), name="operators"),
    path("operators/<str:domain>/<str:name>/", operators.OneOperator.as_view(), name="operator"),
    path("targets/", targets.Targets.as_view(), name="targets"),
    path("targets/<str:slug>/", targets.OneTarget.as_view(), name="target"),
    path("matrix/", matrix.MatrixJson.as_view(), name="matrix"),
    path("matrix.csv", matrix.MatrixCsv.as_view(), name="matrix_csv"),
    path("cells/<str:domain>/<str:name>/<str:column>/", cells.OneCell.as_view(), name="cell"),
    path("limits/", limits.Limits.as_view(), name="limits"),
    path("contradictions/", contradictions.Contradictions.as_view(), name="contradictions"),
    path("sweeps/", sweeps.Sweeps.as_view(), name="sweeps"),
    path("sweeps/<int:sweep_id>/", sweeps.OneSweep.as_view(), name="sweep"),
    path("devices/", devices.Devices.as_view(), name="devices"),
    path("devices/<str:slug>/", devices.OneDevice.as_view(), name="device"),
    path("agent/hello/", agent.Hello.as_view(), name="agent_hello"),
    path("agent/claims/", agent.Claims.as_view(), name="agent_claims"),
    path("agent/claims/<str:claim>/renew/", agent.Renew.as_view(), name="agent_renew"),
    path("agent/claims/<str:claim>/release/", agent.Release.as_view(), name="agent_release"),
    path("cases/<str:case_id>/", cases.OneCase.as_view(), name="case"),
    path("bundles/<str:target>/", cases.OneBundle.as_view(), name="bundle"),
    path("results/", results.Results.as_view(), name="results"),
    path("reports/", reports.Reports.as_view(), name="reports"),
    path("reports/<str:token>/", reports.OneReport.as_view(), name="report"),
]
