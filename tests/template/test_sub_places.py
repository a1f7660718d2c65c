"""Places in strings of Fn::Sub that have no end."""

from __future__ import annotations

from stoker.template.template import Template
from stoker_foundation.processor_time import processor_time


def test_beginnings_without_ends_take_linear_time() -> None:
    began = processor_time()
    value = {"Fn::Sub": "${AWS::Region} " + "${" * 100_000}
    Template.load(
        {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Resources": {"a": {"Type": "OS::Heat::Value", "Properties": {"value": value}}},
        }
    )
    assert processor_time() - began < 2.0
