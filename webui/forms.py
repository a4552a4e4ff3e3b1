"""Forms whose fields are checked one by one, each with its own sentence."""

from django import forms
from django.core.validators import validate_slug
from django.utils.translation import gettext_lazy as _

from compat.devices import CLASS_LENGTH, SLUG_LENGTH, TITLE_LENGTH
from compat.runtimes import runtime_title
from probes.run.registry import RUNTIMES

SPELLING = _("Use letters (a to z), digits, - and _ only.")


def _name(length: int, **options: object) -> forms.CharField:
    return forms.CharField(
        max_length=length,
        validators=[validate_slug],
        error_messages={"required": _("This has to be filled in."), "invalid": SPELLING},
        **options,  # type: ignore[arg-type]
    )


def _text_input(**attributes: str) -> forms.TextInput:
    return forms.TextInput(
        {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false", **attributes}
    )


class DeviceForm(forms.Form):
    """A device to be registered."""

    slug = _name(
        SLUG_LENGTH,
        label=_("Name for commands"),
        help_text=_("Short and unlike any other, such as rk3588-lab."),
        widget=_text_input(),
    )
    title = forms.CharField(
        max_length=TITLE_LENGTH,
        required=False,
        label=_("Title"),
        help_text=_("As pages show it; without one, the name for commands."),
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    device_class = _name(
        CLASS_LENGTH,
        label=_("Class"),
        help_text=_("Documents speak of classes: choose one that is known, or name a new one."),
        widget=_text_input(list="device-classes"),
    )
    runtimes = forms.MultipleChoiceField(
        required=False,
        label=_("Runtimes"),
        help_text=_("What its agent may offer; none chosen means any."),
        widget=forms.CheckboxSelectMultiple,
        choices=lambda: [
            (row.slug, runtime_title(row.slug)) for row in RUNTIMES.values() if row.offered
        ],
    )

    def texts(self) -> list[forms.BoundField]:
        """The fields that are typed."""
        return [self[name] for name in ("slug", "title", "device_class")]

    def focus_error(self) -> None:
        """The page opens at the first field that is wrong."""
        wrong = next(name for name in self.fields if name in self.errors)
        self.fields[wrong].widget.attrs["autofocus"] = True
