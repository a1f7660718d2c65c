"""A few types of each service through their life, as users with a role in a project who find Stoker in the catalog."""

from __future__ import annotations

from collections.abc import Iterator

from testing.simulation.lost_answers import FILES
from tools.realcloud import report
from tools.realcloud.cases import Absent, Cases
from tools.realcloud.engine import Stacks
from tools.realcloud.operators.place import Place
from tools.realcloud.operators.rows import ABSENT, FAILED, PASSED, Row
from tools.realcloud.walk import Walk

TYPES = (
    "AWS::CloudFormation::WaitCondition",
    "AWS::EC2::Instance",
    "AWS::IAM::AccessKey",
    "OS::Aodh::EventAlarm",
    "OS::Barbican::Secret",
    "OS::Cinder::Volume",
    "OS::Designate::RecordSet",
    "OS::Glance::WebImage",
    "OS::Heat::AccessPolicy",
    "OS::Heat::AutoScalingGroup",
    "OS::Heat::ScalingPolicy",
    "OS::Heat::SoftwareDeployment",
    "OS::Heat::Stack",
    "OS::Heat::WaitCondition",
    "OS::Keystone::Project",
    "OS::Magnum::ClusterTemplate",
    "OS::Manila::Share",
    "OS::Mistral::ExternalResource",
    "OS::Neutron::FloatingIP",
    "OS::Neutron::Port",
    "OS::Nova::Server",
    "OS::Octavia::LoadBalancer",
    "OS::Swift::Container",
    "OS::Zaqar::Queue",
)
"""One or two of each service, and those that need the stack domain, a trust, or a signal.

Trove is left out, whose instances need guests that answer, and Zun, which has no host there.
"""


def rows(place: Place) -> Iterator[Row]:
    """Run each type through the verbs of `realcloud.walk`."""
    cases = Cases({"http://images.example.com/": f"{place.web}/", "http://files.example.com/": f"{place.web}/"})
    for name in filter(place.selection.search, TYPES):
        case = cases.of(name, {})
        if isinstance(case, Absent):
            yield Row(name, ABSENT, case.reason)
            continue
        account = place.lab.accounts[case.account.replace("realcloud", "operator")]
        result = Walk(Stacks(account), case, FILES).run()
        report.show(result)
        yield Row(name, FAILED if result.failures else PASSED, " ".join(result.failures))
