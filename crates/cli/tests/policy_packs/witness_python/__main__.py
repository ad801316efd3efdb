"""Writes down everything that it is asked beside the calls of the provider `ledger`, and has a policy of each kind. The
pack for Node.js does the same."""

import json
import os

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    PolicyPack,
    ResourceValidationPolicy,
    Severity,
    StackValidationPolicy,
)


def plain(value):
    if hasattr(value, "items"):
        return {key: plain(value[key]) for key in value}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if hasattr(value, "__iter__"):
        return [plain(one) for one in value]
    return str(value)


def known(look):
    """What stands for a value that cannot be looked at: it is not known yet."""
    try:
        return plain(look())
    except Exception:
        return "unknown"


def write(call):
    with open(os.path.join(os.environ["LEDGER_WORLD"], "calls.jsonl"), "a", encoding="utf-8") as calls:
        calls.write(json.dumps(call) + "\n")


def seen(resource):
    opts = resource.opts
    return {
        "type": resource.resource_type,
        "name": resource.name,
        "props": known(lambda: resource.props),
        "protect": opts.protect,
        "ignored": plain(opts.ignore_changes),
        "deleteBeforeReplace": opts.delete_before_replace,
        "aliases": plain(opts.aliases),
        "timeouts": [
            opts.custom_timeouts.create_seconds,
            opts.custom_timeouts.update_seconds,
            opts.custom_timeouts.delete_seconds,
        ],
        "secretOutputs": plain(opts.additional_secret_outputs),
        "provider": [resource.provider.urn, known(lambda: resource.provider.props)] if resource.provider else None,
    }


def item(args):
    return args.resource_type == "ledger:index:Item"


def small(args):
    write({"method": "policy remediate", "urn": args.urn})
    if item(args) and args.props.get("size", 0) > 10:
        return {**args.props, "size": 10}
    return None


def kind(args, report):
    if item(args) and args.props.get("kind") == args.get_config()["forbidden"]:
        report(f"{args.name} is not kind")


def tagged(args, report):
    if not item(args):
        args.not_applicable("only items")
    if not args.props.get("tags"):
        report(f"{args.name} has no tags")


def quiet(args, report):
    everything = [
        {
            "urn": resource.urn,
            **seen(resource),
            "parent": resource.parent.urn if resource.parent else None,
            "dependencies": sorted(one.urn for one in resource.dependencies),
            "properties": sorted(
                [key, sorted(one.urn for one in some)] for key, some in resource.property_dependencies.items()
            ),
        }
        for resource in args.resources
    ]
    everything.sort(key=lambda resource: resource["urn"])
    write({"method": "policy stack", "all": everything})
    for resource in args.resources:
        if known(lambda: resource.props.get("value")) == "loud":
            report(f"{resource.name} is loud", resource.urn)


def few(args, report):
    if len([resource for resource in args.resources if item(resource)]) > 3:
        report("there are more than three things")


PolicyPack(
    "witness",
    policies=[
        ResourceValidationPolicy(
            name="seen",
            description="Sees it all.",
            enforcement_level=EnforcementLevel.ADVISORY,
            validate=lambda args, _: write({"method": "policy analyze", "urn": args.urn, **seen(args)}),
        ),
        ResourceValidationPolicy(
            name="small",
            description="Things are small.",
            enforcement_level=EnforcementLevel.REMEDIATE,
            remediate=small,
        ),
        ResourceValidationPolicy(
            name="kind",
            description="Things are kind.",
            enforcement_level=EnforcementLevel.MANDATORY,
            severity=Severity.HIGH,
            config_schema=PolicyConfigSchema(properties={"forbidden": {"type": "string", "default": "evil"}}),
            validate=kind,
        ),
        ResourceValidationPolicy(
            name="tagged",
            description="Things have tags.",
            enforcement_level=EnforcementLevel.ADVISORY,
            validate=tagged,
        ),
        StackValidationPolicy(
            name="quiet",
            description="Stacks are quiet.",
            enforcement_level=EnforcementLevel.ADVISORY,
            validate=quiet,
        ),
        StackValidationPolicy(
            name="few",
            description="Stacks are small.",
            enforcement_level=EnforcementLevel.MANDATORY,
            validate=few,
        ),
    ],
)
