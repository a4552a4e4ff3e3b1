"""Addresses of the API, version 1."""

from django.urls import URLPattern

app_name = "api"
urlpatterns: list[URLPattern] = []
