"""The policies of the tests, by the property `text` of a resource. The pack for Node.js has the same."""

import os
import sys

import pulumi
from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    PolicyPack,
    ResourceValidationPolicy,
    Severity,
    StackValidationPolicy,
)


def when(text, act):
    def validate(args, report):
        if args.props.get("text") == text:
            act(args, report)

    return validate


def mend(args):
    if args.props.get("text") == "mend":
        return {**args.props, "text": "mended"}
    return None


def sized(args, report):
    most = int(args.get_config()["most"])
    if args.props.get("index", 0) >= most:
        report(f"{args.name} is one of more than {most}")


def placed(args, report):
    zone = pulumi.Config().get("zone")
    report(f"{pulumi.get_project()}/{pulumi.get_stack()} in {zone} of {args.stack_tags.get('team')}")


def seen(args, report):
    provider = args.provider and args.provider.resource_type
    report(f"{args.resource_type} {str(args.opts.protect).lower()} {provider} {int(args.props['index'])}")


def broken(args, _):
    if args.props.get("text") == "throw":
        raise RuntimeError("a bug in a policy")
    if args.props.get("text") == "crash":
        print("out of luck", file=sys.stderr, flush=True)
        os._exit(3)


def whole(args, report):
    for resource in args.resources:
        if resource.props.get("text") == "stack":
            report(f"{resource.name} with {len(resource.dependencies)}", resource.urn)


PolicyPack(
    "guard",
    policies=[
        ResourceValidationPolicy(
            name="advised",
            description="Advice.",
            enforcement_level=EnforcementLevel.ADVISORY,
            severity=Severity.LOW,
            validate=when("advise", lambda args, report: report(f"{args.name} is not as it should be")),
        ),
        ResourceValidationPolicy(
            name="strict",
            description="A rule.",
            enforcement_level=EnforcementLevel.MANDATORY,
            validate=when("refuse", lambda args, report: report(f"{args.name} must not be")),
        ),
        ResourceValidationPolicy(
            name="tidied",
            description="A rule that keeps itself.",
            enforcement_level=EnforcementLevel.REMEDIATE,
            remediate=mend,
            validate=when("mend", lambda args, report: report(f"{args.name} was not mended")),
        ),
        ResourceValidationPolicy(
            name="sized",
            description="A rule with settings.",
            enforcement_level=EnforcementLevel.MANDATORY,
            config_schema=PolicyConfigSchema(
                properties={"most": {"type": "integer", "minimum": 1, "default": 100}},
            ),
            validate=sized,
        ),
        ResourceValidationPolicy(
            name="placed",
            description="Says where it is.",
            enforcement_level=EnforcementLevel.ADVISORY,
            validate=when("where", placed),
        ),
        ResourceValidationPolicy(
            name="seen",
            description="Says what it sees.",
            enforcement_level=EnforcementLevel.ADVISORY,
            validate=when("see", seen),
        ),
        ResourceValidationPolicy(
            name="broken",
            description="Throws, or ends its process.",
            enforcement_level=EnforcementLevel.ADVISORY,
            validate=broken,
        ),
        StackValidationPolicy(
            name="whole",
            description="A rule for the stack.",
            enforcement_level=EnforcementLevel.MANDATORY,
            validate=whole,
        ),
    ],
)
