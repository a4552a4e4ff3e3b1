"""Addresses of the API, version 1."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from compat.api import cells, describe, matrix, operators, reports, sweeps, targets

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
    path("sweeps/", sweeps.Sweeps.as_view(), name="sweeps"),
    path("sweeps/<int:sweep_id>/", sweeps.OneSweep.as_view(), name="sweep"),
    path("reports/", reports.Reports.as_view(), name="reports"),
    path("reports/<str:token>/", reports.OneReport.as_view(), name="report"),
]
