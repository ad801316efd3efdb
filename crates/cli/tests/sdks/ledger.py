"""What a generated SDK of the provider `ledger` would be."""

from typing import Any

import pulumi

OUTPUTS = ["name", "kind", "size", "value", "tags", "secret", "token", "serial", "zone"]


class Item(pulumi.CustomResource):
    __annotations__ = {key: pulumi.Output[Any] for key in OUTPUTS}

    def __init__(self, resource_name, properties=None, opts=None):
        blank = dict.fromkeys(OUTPUTS)
        super().__init__("ledger:index:Item", resource_name, {**blank, **(properties or {})}, opts)


class Group(pulumi.ComponentResource):
    names: pulumi.Output[Any]
    token: pulumi.Output[str]

    def __init__(self, resource_name, properties=None, opts=None):
        given = {"names": None, "token": None, **(properties or {})}
        super().__init__("ledger:index:Group", resource_name, given, opts, remote=True)

    def describe(self, greeting):
        return pulumi.runtime.call("ledger:index:Group/describe", {"__self__": self, "greeting": greeting}, res=self)


class Provider(pulumi.ProviderResource):
    def __init__(self, resource_name, properties=None, opts=None):
        super().__init__("ledger", resource_name, properties or {}, opts)


def lookup(given, opts=None):
    return pulumi.runtime.invoke_output("ledger:index:lookup", given, opts)
