"""What administrators set up, over HTTP: flavors, availability zones and their profiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.http import Request, Response
from openstack_emulator.loadbalancer.records import AvailabilityZone, Flavor, FlavorProfile, ZoneProfile
from openstack_emulator.loadbalancer.routes import forms
from openstack_emulator.loadbalancer.routes.fields import Form
from openstack_emulator.loadbalancer.routes.lists import list_response, trimmed
from openstack_emulator.loadbalancer.routes.objects import key_of
from openstack_emulator.loadbalancer.rules.composition import LoadBalancing
from openstack_emulator.loadbalancer.rules.operators import OperatorObjects, RecordT
from openstack_emulator.loadbalancer.views import View, operator_view


@dataclass(frozen=True, kw_only=True)
class OperatorEndpoint(Generic[RecordT]):
    """The handlers of the requests for one kind of objects.

    rules: finds the rules of the kind. plural: the key around a list. attributes: the fields of records by their names
    in requests, where the names differ. key: the field that identifies an object.
    """

    kind: type[RecordT]
    rules: Callable[[LoadBalancing], OperatorObjects[RecordT]]
    form: Form
    plural: str
    attributes: Mapping[str, str]
    key: str = "id"

    def index(self, service: LoadBalancing, request: Request) -> Response:
        return list_response(request, self.plural, [self._view(row) for row in self.rules(service).rows], self.key)

    def show(self, service: LoadBalancing, request: Request) -> Response:
        return Response({self.form.member: trimmed(self._view(self._requested(service, request)), request.query)})

    def create(self, service: LoadBalancing, request: Request) -> Response:
        values = self._record_fields(self.form.values(self.form.body(request)))
        key = values["name"] if self.key == "name" else new_id()
        record = self.rules(service).create(self.kind(id=key, **values))
        return Response({self.form.member: self._view(record)}, 201)

    def update(self, service: LoadBalancing, request: Request) -> Response:
        row = self._requested(service, request)
        self.rules(service).change(row, self._record_fields(self.form.changes(self.form.body(request))))
        return Response({self.form.member: self._view(row)})

    def delete(self, service: LoadBalancing, request: Request) -> Response:
        self.rules(service).delete(self._requested(service, request))
        return Response(status=204)

    def _requested(self, service: LoadBalancing, request: Request) -> RecordT:
        return self.rules(service).rows.require(key_of(request))

    def _record_fields(self, values: Mapping[str, object]) -> dict[str, Any]:
        return {self.attributes.get(name, name): value for name, value in values.items()}

    def _view(self, row: RecordT) -> View:
        return operator_view(row, (self.key, *self.form.fields))


FLAVORS = OperatorEndpoint(
    kind=Flavor,
    rules=lambda service: service.offerings.flavors,
    form=forms.FLAVOR,
    plural="flavors",
    attributes={"flavor_profile_id": "profile_id"},
)
FLAVOR_PROFILES = OperatorEndpoint(
    kind=FlavorProfile,
    rules=lambda service: service.offerings.flavor_profiles,
    form=forms.FLAVOR_PROFILE,
    plural="flavorprofiles",
    attributes={"flavor_data": "data"},
)
ZONES = OperatorEndpoint(
    kind=AvailabilityZone,
    rules=lambda service: service.offerings.zones,
    form=forms.ZONE,
    plural="availability_zones",
    attributes={"availability_zone_profile_id": "profile_id"},
    key="name",
)
ZONE_PROFILES = OperatorEndpoint(
    kind=ZoneProfile,
    rules=lambda service: service.offerings.zone_profiles,
    form=forms.ZONE_PROFILE,
    plural="availability_zone_profiles",
    attributes={"availability_zone_data": "data"},
)
