"""Addresses of the pages."""

from django.urls import path, register_converter

from webui.views import (
    about,
    cells,
    colours,
    contradictions,
    devices,
    matrix,
    operators,
    probes,
    reports,
    sweeps,
    targets,
    theme,
)


class ColumnSlug:
    """A column's or target's slug: no slash, anything else that a device's name may hold."""

    regex = r"[^/]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(ColumnSlug, "column")

app_name = "webui"
urlpatterns = [
    path("", matrix.matrix, name="matrix"),
    path("c/<int:operator_id>/<int:column_id>", cells.short_link, name="cell_short"),
    path("colours/", colours.colours, name="colours"),
    path("contradictions/", contradictions.contradictions, name="contradictions"),
    path("contradictions.csv", contradictions.contradictions_file, name="contradictions_csv"),
    path("colours.csv", colours.colours_file, name="colours_csv"),
    path("operators/<str:domain>/<str:name>/", operators.operator, name="operator"),
    path("targets/", targets.targets, name="targets"),
    path("targets/<column:slug>/", targets.target, name="target"),
    path("targets/<column:slug>/sweeps/", sweeps.start, name="sweep_start"),
    path("devices/", devices.devices, name="devices"),
    path("devices/<slug:slug>/tokens/", devices.another_token, name="device_token"),
    path("devices/<slug:slug>/tokens/<int:number>/revoke/", devices.revoke, name="token_revoke"),
    path("devices/<slug:slug>/standing/", devices.standing, name="device_standing"),
    path("cells/<str:domain>/<str:name>/<column:slug>/", cells.cell, name="cell"),
    path("probes/<int:probe_id>/", probes.probe, name="probe"),
    path("probes/<int:probe_id>/model.onnx", probes.model_file, name="probe_model"),
    path("probes/<int:probe_id>/reproducer.zip", probes.archive, name="probe_archive"),
    path("reports/new/", reports.upload, name="report_new"),
    path("reports/<str:token>/", reports.report, name="report"),
    path("reports/<str:token>/delete/", reports.delete, name="report_delete"),
    path("sweeps/<int:sweep_id>/", sweeps.sweep, name="sweep"),
    path("sweeps/<int:sweep_id>/stop/", sweeps.stop, name="sweep_stop"),
    path("sweeps/<int:sweep_id>/resume/", sweeps.resume, name="sweep_resume"),
    path("about/", about.about, name="about"),
    path("theme/", theme.choose, name="theme"),
]
