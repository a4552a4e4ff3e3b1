"""Addresses of the pages."""

from django.urls import URLPattern

app_name = "webui"
urlpatterns: list[URLPattern] = []
