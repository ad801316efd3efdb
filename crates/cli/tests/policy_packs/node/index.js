// The policies of the tests, by the property `text` of a resource. The pack in Python has the same.
const { PolicyPack } = require("@pulumi/policy");
const pulumi = require("@pulumi/pulumi");

const when = (text, act) => (args, report) => {
    if (args.props.text === text) {
        return act(args, report);
    }
};

new PolicyPack("guard", {
    policies: [
        {
            name: "advised",
            description: "Advice.",
            enforcementLevel: "advisory",
            severity: "low",
            validateResource: when("advise", (args, report) => report(`${args.name} is not as it should be`)),
        },
        {
            name: "strict",
            description: "A rule.",
            enforcementLevel: "mandatory",
            validateResource: when("refuse", (args, report) => report(`${args.name} must not be`)),
        },
        {
            name: "tidied",
            description: "A rule that keeps itself.",
            enforcementLevel: "remediate",
            remediateResource: when("mend", (args) => ({ ...args.props, text: "mended" })),
            validateResource: when("mend", (args, report) => report(`${args.name} was not mended`)),
        },
        {
            name: "sized",
            description: "A rule with settings.",
            enforcementLevel: "mandatory",
            configSchema: { properties: { most: { type: "integer", minimum: 1, default: 100 } } },
            validateResource: (args, report) => {
                const { most } = args.getConfig();
                if (args.props.index >= most) {
                    report(`${args.name} is one of more than ${most}`);
                }
            },
        },
        {
            name: "placed",
            description: "Says where it is.",
            enforcementLevel: "advisory",
            validateResource: when("where", (args, report) => {
                const zone = new pulumi.Config().get("zone");
                report(`${pulumi.getProject()}/${pulumi.getStack()} in ${zone} of ${args.stackTags.get("team")}`);
            }),
        },
        {
            name: "seen",
            description: "Says what it sees.",
            enforcementLevel: "advisory",
            validateResource: when("see", (args, report) => {
                report(`${args.type} ${args.opts.protect} ${args.provider && args.provider.type} ${args.props.index}`);
            }),
        },
        {
            name: "broken",
            description: "Throws, or ends its process.",
            enforcementLevel: "advisory",
            validateResource: (args) => {
                if (args.props.text === "throw") {
                    throw new Error("a bug in a policy");
                }
                if (args.props.text === "hang") {
                    require("fs").writeFileSync("hangs", "");
                    return new Promise(() => {});
                }
                if (args.props.text === "crash") {
                    console.error("out of luck");
                    process.exit(3);
                }
            },
        },
        {
            name: "whole",
            description: "A rule for the stack.",
            enforcementLevel: "mandatory",
            validateStack: (args, report) => {
                for (const resource of args.resources) {
                    if (resource.props.text === "stack") {
                        report(`${resource.name} with ${resource.dependencies.length}`, resource.urn);
                    }
                }
            },
        },
    ],
});
