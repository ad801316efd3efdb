"""What a generated SDK of the package `bench` would be, by the schema beside it."""

import json
from typing import Any, Mapping, Optional, Union

import pulumi

from . import network
from ._resource import register


@pulumi.input_type
class CronTriggerArgs:
    kind: pulumi.Input[str] = pulumi.property("kind")
    cron_expression: pulumi.Input[str] = pulumi.property("cronExpression")


@pulumi.input_type
class EventTriggerArgs:
    kind: pulumi.Input[str] = pulumi.property("kind")
    event_name: pulumi.Input[str] = pulumi.property("eventName")


@pulumi.input_type
class ItemArgs:
    name: Optional[pulumi.Input[str]] = pulumi.property("name", default=None)
    size: Optional[pulumi.Input[int]] = pulumi.property("size", default=None)
    ratio: Optional[pulumi.Input[float]] = pulumi.property("ratio", default=None)
    enable_dns_support: Optional[pulumi.Input[bool]] = pulumi.property("enableDNSSupport", default=None)
    from_: Optional[pulumi.Input[str]] = pulumi.property("from", default=None)
    anything: Optional[Any] = pulumi.property("anything", default=None)
    resource_tags: Optional[pulumi.Input[Mapping[str, pulumi.Input[str]]]] = pulumi.property(
        "resourceTags", default=None
    )
    secret_text: Optional[pulumi.Input[str]] = pulumi.property("secretText", default=None)
    bundle: Optional[pulumi.Input[pulumi.Archive]] = pulumi.property("bundle", default=None)
    source_file: Optional[pulumi.Input[Union[pulumi.Asset, pulumi.Archive]]] = pulumi.property(
        "sourceFile", default=None
    )
    kind: Optional[pulumi.Input[str]] = pulumi.property("kind", default=None)
    trigger: Optional[pulumi.Input[Union["CronTriggerArgs", "EventTriggerArgs"]]] = pulumi.property(
        "trigger", default=None
    )


class Item(pulumi.CustomResource):
    def __init__(
        self,
        resource_name,
        opts=None,
        *,
        name=None,
        size=None,
        ratio=None,
        enable_dns_support=None,
        from_=None,
        anything=None,
        resource_tags=None,
        secret_text=None,
        bundle=None,
        source_file=None,
        kind=None,
        trigger=None,
    ):
        given = {
            "name": name,
            "size": size,
            "ratio": ratio,
            "enable_dns_support": enable_dns_support,
            "from_": from_,
            "anything": anything,
            "resource_tags": resource_tags,
            "secret_text": None if secret_text is None else pulumi.Output.secret(secret_text),
            "bundle": bundle,
            "source_file": source_file,
            "kind": kind,
            "trigger": trigger,
            "arn": None,
        }
        register(self, Item, "bench:index/item:Item", resource_name, ItemArgs, given, opts, ["secretText"])

    @property
    @pulumi.getter
    def name(self) -> pulumi.Output[Optional[str]]:
        return pulumi.get(self, "name")

    @property
    @pulumi.getter
    def arn(self) -> pulumi.Output[Optional[str]]:
        return pulumi.get(self, "arn")


class Provider(pulumi.ProviderResource):
    def __init__(self, resource_name, opts=None, *, region=None, retries=None, access_key=None):
        given = {
            "region": region,
            "retries": None if retries is None else pulumi.Output.from_input(retries).apply(json.dumps),
            "accessKey": None if access_key is None else pulumi.Output.secret(access_key),
        }
        usual = pulumi.ResourceOptions(version="1.0.0")
        super().__init__("bench", resource_name, given, pulumi.ResourceOptions.merge(usual, opts))
