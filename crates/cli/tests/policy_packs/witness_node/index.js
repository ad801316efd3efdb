// Writes down everything that it is asked beside the calls of the provider `ledger`, and has a policy of each kind. The
// pack in Python does the same.
const fs = require("fs");
const path = require("path");
const { PolicyPack } = require("@pulumi/policy");

// What stands for a value that cannot be looked at: it is not known yet.
const known = (look) => {
    try {
        return JSON.parse(JSON.stringify(look()));
    } catch (error) {
        return "unknown";
    }
};
const write = (call) =>
    fs.appendFileSync(path.join(process.env.LEDGER_WORLD, "calls.jsonl"), `${JSON.stringify(call)}\n`);
const seen = (resource) => ({
    type: resource.type,
    name: resource.name,
    props: known(() => resource.props),
    protect: resource.opts.protect,
    ignored: resource.opts.ignoreChanges,
    deleteBeforeReplace: resource.opts.deleteBeforeReplace === undefined ? null : resource.opts.deleteBeforeReplace,
    aliases: resource.opts.aliases,
    timeouts: Object.values(resource.opts.customTimeouts),
    secretOutputs: resource.opts.additionalSecretOutputs,
    provider: resource.provider ? [resource.provider.urn, known(() => resource.provider.props)] : null,
});
const item = (args) => args.type === "ledger:index:Item";

new PolicyPack("witness", {
    policies: [
        {
            name: "seen",
            description: "Sees it all.",
            enforcementLevel: "advisory",
            validateResource: (args) => write({ method: "policy analyze", urn: args.urn, ...seen(args) }),
        },
        {
            name: "small",
            description: "Things are small.",
            enforcementLevel: "remediate",
            remediateResource: (args) => {
                write({ method: "policy remediate", urn: args.urn });
                if (item(args) && args.props.size > 10) {
                    return { ...args.props, size: 10 };
                }
            },
        },
        {
            name: "kind",
            description: "Things are kind.",
            enforcementLevel: "mandatory",
            severity: "high",
            configSchema: { properties: { forbidden: { type: "string", default: "evil" } } },
            validateResource: (args, report) => {
                if (item(args) && args.props.kind === args.getConfig().forbidden) {
                    report(`${args.name} is not kind`);
                }
            },
        },
        {
            name: "tagged",
            description: "Things have tags.",
            enforcementLevel: "advisory",
            validateResource: (args, report) => {
                if (!item(args)) {
                    args.notApplicable("only items");
                }
                if (!args.props.tags) {
                    report(`${args.name} has no tags`);
                }
            },
        },
        {
            name: "quiet",
            description: "Stacks are quiet.",
            enforcementLevel: "advisory",
            validateStack: (args, report) => {
                const all = args.resources.map((resource) => ({
                    urn: resource.urn,
                    ...seen(resource),
                    parent: resource.parent ? resource.parent.urn : null,
                    dependencies: resource.dependencies.map((one) => one.urn).sort(),
                    properties: Object.entries(resource.propertyDependencies)
                        .map(([key, list]) => [key, list.map((one) => one.urn).sort()])
                        .sort(),
                }));
                all.sort((a, b) => (a.urn < b.urn ? -1 : 1));
                write({ method: "policy stack", all });
                for (const resource of args.resources) {
                    if (resource.props.value === "loud") {
                        report(`${resource.name} is loud`, resource.urn);
                    }
                }
            },
        },
        {
            name: "few",
            description: "Stacks are small.",
            enforcementLevel: "mandatory",
            validateStack: (args, report) => {
                if (args.resources.filter(item).length > 3) {
                    report("there are more than three things");
                }
            },
        },
    ],
});
