from typing import Mapping, Optional, Sequence

import pulumi

from ._resource import register


@pulumi.input_type
class RuleArgs:
    from_port: pulumi.Input[int] = pulumi.property("fromPort")
    protocol: pulumi.Input[str] = pulumi.property("protocol")
    cidr_blocks: Optional[pulumi.Input[Sequence[pulumi.Input[str]]]] = pulumi.property(
        "cidrBlocks", default=None
    )
    extra_labels: Optional[pulumi.Input[Mapping[str, pulumi.Input[str]]]] = pulumi.property(
        "extraLabels", default=None
    )
    next: Optional[pulumi.Input["RuleArgs"]] = pulumi.property("next", default=None)


@pulumi.input_type
class SubnetArgs:
    item_id: pulumi.Input[str] = pulumi.property("itemId")
    item_name: Optional[pulumi.Input[str]] = pulumi.property("itemName", default=None)
    mode: Optional[pulumi.Input[str]] = pulumi.property("mode", default=None)
    rules: Optional[pulumi.Input[Sequence[pulumi.Input["RuleArgs"]]]] = pulumi.property("rules", default=None)
    rules_by_name: Optional[pulumi.Input[Mapping[str, pulumi.Input["RuleArgs"]]]] = pulumi.property(
        "rulesByName", default=None
    )


class Subnet(pulumi.CustomResource):
    def __init__(
        self, resource_name, opts=None, *, item_id, item_name=None, mode=None, rules=None, rules_by_name=None
    ):
        given = {
            "item_id": item_id,
            "item_name": item_name,
            "mode": mode,
            "rules": rules,
            "rules_by_name": rules_by_name,
        }
        register(self, Subnet, "bench:net/subnet:Subnet", resource_name, SubnetArgs, given, opts)

    @property
    @pulumi.getter(name="itemId")
    def item_id(self) -> pulumi.Output[str]:
        return pulumi.get(self, "item_id")
