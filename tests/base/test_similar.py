"""The name that is meant by a misspelt one, and how long it takes to find it."""

from __future__ import annotations

import time

from stoker.base.similar import closest


def test_the_closest_name_is_found() -> None:
    assert closest("flavour", ["flavor", "image", "favourite_color"]) == "flavor"
    assert closest("FN::SBU", ["Fn::Sub", "Fn::Join"]) == "Fn::Sub"
    assert closest("x", ["flavor"]) is None
    assert closest("get_parm", ["get_param"], 0.99) is None
    many = [f"OS::Nova::{name}" for name in ("Quota", "Flavor", "ServerGroup", "Server", *map(str, range(20)))]
    assert closest("os::nova::ser", many) == "OS::Nova::Server", "a name that is not complete"
    long = f"{'n' * 70}_of_a_network"
    assert closest(f"{'n' * 70}_of_a_netwrok", [long, "other"]) == long


def test_long_and_many_names_take_little_time() -> None:
    names = [f"{number:05d}{'ab' * 500}" for number in range(20_000)]
    start = time.process_time()
    closest("ab" * 100_000, names)
    closest(names[-1], names)
    assert time.process_time() - start < 1
