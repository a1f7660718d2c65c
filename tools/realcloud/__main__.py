"""Run every resource type and the scenarios on real OpenStack services, and compare what these hold before and after.

    python -m tools.realcloud --lab FOLDER [--types REGEX] [--scenarios [NAME ...]] [--keep DIRECTORY] [--record]

The lab is a folder with scripts that install (`setup.sh`) and start (`up.sh`) the services, and a `clouds.yaml`.
`STOKER_LAB_CLOUD` can name it instead. The lab is started when it does not answer, and left running. The exit status
is 0 when nothing has failed and nothing is left, 1 otherwise, and 2 when there is no lab.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from stoker.cloud.services import OPENSTACK
from testing.simulation.lost_answers import BALANCER, FILES, MEMBER
from tools.realcloud import inventory, report
from tools.realcloud.cases import Absent, Case, Cases
from tools.realcloud.engine import Engine, running
from tools.realcloud.lab import Lab, LabMissing, found_folder, prepared
from tools.realcloud.scenarios import SCENARIOS, trials
from tools.realcloud.walk import Result, Walk
from tools.realcloud.web import serving

IMPOSSIBLE = 2
INDEPENDENT = ("OS::Neutron::", "OS::Octavia::", "OS::Heat::", "OS::Aodh::", "OS::Barbican::")
"""Families whose examples have no names in common, so that they run side by side."""
ALONE = ("OS::Blazar::",)
"""Families that take the compute host away from all others, and need one without servers."""
KEPT = "rc-os-barbican-order-"
"""In the names of what is left on purpose: keys that an order has generated outlive it."""
SETTINGS = """[DEFAULT]
stack_user_domain_name = heat
stack_domain_admin = heat_domain_admin
stack_domain_admin_password = {password}
loadbalancer_template = {balancer}
template_fetch_networks = 127.0.0.0/8
"""


def main() -> int:
    arguments = _arguments()
    try:
        lab = prepared(found_folder(arguments.lab))
    except LabMissing as error:
        print(error, file=sys.stderr)
        return IMPOSSIBLE
    kept = nullcontext(arguments.keep) if arguments.keep else tempfile.TemporaryDirectory(prefix="stoker-realcloud-")
    bad = 0
    with kept as home:
        if arguments.types is not None:
            bad += _run_types(lab, Path(home) / "types", arguments)
        if arguments.scenarios is not None:
            bad += _run_scenarios(lab, Path(home) / "scenarios", arguments)
    return int(bool(bad))


def _run_types(lab: Lab, home: Path, arguments: argparse.Namespace) -> int:
    """Run resource types; return the number of those that failed and of objects that were left."""
    results, left = _run(lab, home, arguments)
    for line in left:
        print(f"left in the cloud: {line}")
    ran = [result for result in results if not result.absent]
    failures = sum(bool(result.failures) for result in ran)
    print(f"{len(ran)} types ran, {failures} with failures; {len(results) - len(ran)} cannot run there.")
    if arguments.record and arguments.types:
        report.record(report.TYPES, report.repeated_block(report.recorded(report.TYPES), results, left))
    elif arguments.record:
        report.record(report.TYPES, report.block(results, left))
    return failures + len(left)


def _run_scenarios(lab: Lab, home: Path, arguments: argparse.Namespace) -> int:
    """Run scenarios; return the number of trials that failed."""
    results = []
    with running(lab, home, _settings(lab, home), [trials.ACCOUNT, trials.ADMINISTRATOR]) as engines:
        place = trials.Place(lab, engines, arguments.seed)
        for name in arguments.scenarios:
            for outcome in trials.run(place, name, SCENARIOS[name](place)):
                report.show_trial(outcome)
                results.append(outcome)
    failures = sum(not outcome.passed for outcome in results)
    print(f"{len(results)} trials ran, {failures} failed.")
    if arguments.record:
        known = report.recorded(report.SCENARIOS)
        report.record(report.SCENARIOS, report.scenario_block(results, known, list(SCENARIOS)))
    return failures


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.realcloud", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lab", type=Path, help="folder of the lab's scripts")
    parser.add_argument("--types", metavar="REGEX", help="the types with such names only")
    parser.add_argument("--scenarios", nargs="*", metavar="NAME", help=f"these only, or all: {', '.join(SCENARIOS)}")
    parser.add_argument("--seed", type=int, default=1, help="seed of the scenarios' choices (1)")
    parser.add_argument("--workers", type=int, default=4, help="stacks side by side (4)")
    parser.add_argument("--keep", type=Path, help="directory for the data and logs, which is then left as it is")
    parser.add_argument(
        "--record",
        action="store_true",
        help="write the results into docs/reference/real-services.md; those of some types replace theirs only",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.scenarios or ()) - SCENARIOS.keys():
        parser.error(f"there are no scenarios {', '.join(sorted(unknown))}: {', '.join(SCENARIOS)}")
    if arguments.types is None and arguments.scenarios is None:
        arguments.types, arguments.scenarios = "", []
    if arguments.scenarios is not None:
        arguments.scenarios = arguments.scenarios or list(SCENARIOS)
    return arguments


def _settings(lab: Lab, home: Path) -> Path:
    """Write the configuration file of Stoker, and return its path."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / "stoker.conf"
    path.write_text(SETTINGS.format(password=lab.administrator.auth["password"], balancer=BALANCER))
    return path


def _run(lab: Lab, home: Path, arguments: argparse.Namespace) -> tuple[list[Result], list[str]]:
    """Return the result of each type, and what is left in the cloud afterwards."""
    settings = _settings(lab, home)
    files = {"/small.qcow2": bytes(65536), "/member.yaml": MEMBER.encode()}
    with serving(files) as web:
        cases = Cases({"http://images.example.com/": f"{web}/", "http://files.example.com/": f"{web}/"})
        lacking = _lacking(lab, cases)
        selected = [cases.of(name, lacking) for name in cases.names if re.search(arguments.types, name)]
        names = sorted({case.account for case in selected if isinstance(case, Case)})
        accounts = [lab.accounts[name] for name in names]
        before = inventory.taken(accounts)
        with running(lab, home, settings, names) as engines:
            results = list(_results(selected, engines, arguments.workers))
        after = inventory.taken(accounts)
    lines = [*inventory.left(before, after), *(f"gone: {line}" for line in inventory.left(after, before))]
    return results, [line for line in lines if KEPT not in line]


def _lacking(lab: Lab, cases: Cases) -> dict[str, str]:
    """Why types cannot run: their service or its extension is not there."""
    account = lab.administrator
    reasons = {}
    for name in cases.names:
        kind = cases.kind(name)
        if kind.service is None:
            continue
        service = OPENSTACK[kind.service]
        if service.name != "heat" and not account.services.intersection(service.catalog_types):
            reasons[name] = f"The cloud has no service {service.catalog_types[0]} ({service.name})."
        elif service.name == "neutron" and kind.extension and kind.extension not in account.network_extensions:
            reasons[name] = f"The network service has no extension {kind.extension}."
    return reasons


def _results(selected: Iterable[Case | Absent], engines: Mapping[str, Engine], workers: int) -> Iterable[Result]:
    """Run the cases, a few side by side, and print each result. What fails runs again alone."""
    alone: list[Case] = []
    groups: dict[str, list[Case]] = {}
    for case in selected:
        if isinstance(case, Absent):
            absent = Result(case.type_name, absent=case.reason)
            report.show(absent)
            yield absent
        elif case.type_name.startswith(ALONE):
            alone.append(case)
        else:
            groups.setdefault(_group(case), []).append(case)
    yield from _walked(alone, engines)
    with ThreadPoolExecutor(workers) as threads:
        failed = []
        for results in threads.map(lambda group: _walked(group, engines), _longest_first(groups.values())):
            failed += [result for result in results if result.failures]
            yield from (result for result in results if not result.failures)
    cases = {case.type_name: case for group in groups.values() for case in group}
    for first in failed:
        [result] = _walked([cases[first.type_name]], engines)
        yield replace(result, beside_others=tuple(first.failures))


def _group(case: Case) -> str:
    """Return the name of the group whose cases run one after the other."""
    if case.account == "realcloud-instances":
        return case.account
    return case.type_name if case.type_name.startswith(INDEPENDENT) else case.type_name.rpartition("::")[0]


def _longest_first(groups: Iterable[list[Case]]) -> list[list[Case]]:
    return sorted(groups, key=len, reverse=True)


def _walked(group: Sequence[Case], engines: Mapping[str, Engine]) -> list[Result]:
    """Run cases one after the other."""
    results = []
    for case in group:
        engine = engines[case.account]
        result = Walk(engine, case, FILES).run()
        report.show(result)
        results.append(result)
    return results


if __name__ == "__main__":
    sys.exit(main())
