"use strict";
// What all of the package's classes share.
const pulumi = require("@pulumi/pulumi");

const about = {/* about */};

/** The reference of a package that another one makes, by the engine that gave it. */
const references = new WeakMap();

function reference() {
    if (about.parameter === null) {
        return undefined;
    }
    const monitor = pulumi.runtime.getMonitor();
    if (monitor === undefined || typeof monitor.registerPackage !== "function") {
        return undefined;
    }
    if (!references.has(monitor)) {
        references.set(monitor, register(monitor));
    }
    return references.get(monitor);
}

function register(monitor) {
    const messages = require("@pulumi/pulumi/proto/resource_pb.js");
    const parameterization = new messages.Parameterization();
    parameterization.setName(about.name);
    parameterization.setVersion(about.version);
    parameterization.setValue(about.parameter);
    const request = new messages.RegisterPackageRequest();
    request.setName(about.plugin);
    request.setVersion(about.pluginVersion);
    request.setDownloadUrl(about.server);
    request.setParameterization(parameterization);
    return new Promise((resolve, reject) => {
        monitor.registerPackage(request, (error, answer) => (error ? reject(error) : resolve(answer.getRef())));
    });
}

/** Options that say which plugin serves the package. */
function origin() {
    const options = {};
    if (about.parameter === null && about.version !== "") {
        options.version = about.version;
    }
    if (about.server !== "") {
        options.pluginDownloadURL = about.server;
    }
    return options;
}

function options(shape, opts) {
    const usual = origin();
    if (shape.aliases.length > 0) {
        usual.aliases = shape.aliases.map((type) => ({ type }));
    }
    if (shape.secretOutputs.length > 0) {
        usual.additionalSecretOutputs = shape.secretOutputs;
    }
    if (shape.replaceOnChanges.length > 0) {
        usual.replaceOnChanges = shape.replaceOnChanges;
    }
    return pulumi.mergeOptions(usual, opts || {});
}

/** What a property is when it is left out: what the environment says, or else the schema. */
function usually(found) {
    if (found === undefined) {
        return undefined;
    }
    for (const name of found.environment || []) {
        const value = parsed(process.env[name], found.type);
        if (value !== undefined) {
            return value;
        }
    }
    return found.value;
}

function parsed(text, type) {
    if (text === undefined || text === "") {
        return undefined;
    }
    if (type === "boolean") {
        return /^(1|t|true)$/i.test(text) ? true : /^(0|f|false)$/i.test(text) ? false : undefined;
    }
    if (type === "number") {
        const number = Number(text);
        return Number.isNaN(number) ? undefined : number;
    }
    return text;
}

/** What a new resource is made of: what is given, what the schema says, and a place for what comes back. */
function properties(shape, args, opts) {
    const given = args || {};
    const made = {};
    for (const name of shape.outputs) {
        made[name] = undefined;
    }
    for (const name of shape.required) {
        if (given[name] === undefined && !(opts && opts.urn)) {
            throw new Error(`Missing required property '${name}'`);
        }
    }
    for (const name of shape.inputs) {
        let value = given[name] === undefined && !(opts && opts.urn) ? usually(shape.defaults[name]) : given[name];
        value = name in shape.constants ? shape.constants[name] : value;
        made[name] = value !== undefined && shape.secrets.includes(name) ? pulumi.secret(value) : value;
    }
    return made;
}

exports.custom = (kind, name, args, opts) => {
    const shape = kind.__shape;
    let made = {};
    if (opts && opts.id) {
        for (const name of shape.outputs) {
            made[name] = args ? args[name] : undefined;
        }
    } else {
        made = properties(shape, args, opts);
    }
    return [kind.__pulumiType, name, made, options(shape, opts), false, reference()];
};

exports.component = (kind, name, args, opts) => {
    const shape = kind.__shape;
    return [kind.__pulumiType, name, properties(shape, args, opts), options(shape, opts), true, reference()];
};

/** The configuration of a provider is texts; anything else is written as JSON. */
exports.provider = (kind, name, args, opts) => {
    const shape = kind.__shape;
    const made = properties({ ...shape, outputs: [] }, args, opts);
    for (const name of shape.inputs) {
        if (made[name] !== undefined && !shape.texts.includes(name)) {
            made[name] = pulumi.output(made[name]).apply(JSON.stringify);
        }
    }
    return [about.name, name, made, options(shape, opts), false, reference()];
};

exports.isInstance = (value, kind) => value !== undefined && value !== null && value.__pulumiType === kind.__pulumiType;

/** Lets a reference to a resource be turned into one of its class. */
exports.register = (kind) => {
    const [name, module] = kind.__pulumiType.split(":");
    kinds.set(kind.__pulumiType, kind);
    if (modules.has(module)) {
        return;
    }
    modules.add(module);
    pulumi.runtime.registerResourceModule(name, module, {
        version: about.version,
        construct: (name, type, urn) => {
            const found = kinds.get(type);
            if (found === undefined) {
                throw new Error(`unknown resource type ${type}`);
            }
            return new found(name, undefined, { urn });
        },
    });
};
const kinds = new Map();
const modules = new Set();

exports.registerProvider = (kind) => {
    pulumi.runtime.registerResourcePackage(about.name, {
        version: about.version,
        constructProvider: (name, type, urn) => {
            if (type !== kind.__pulumiType) {
                throw new Error(`unknown provider type ${type}`);
            }
            return new kind(name, undefined, { urn });
        },
    });
};

function chosen(names, args) {
    const given = args || {};
    return Object.fromEntries(names.map((name) => [name, given[name]]));
}

exports.invoke = (token, names, args, opts) =>
    pulumi.runtime.invoke(token, chosen(names, args), { ...origin(), ...opts }, reference());
exports.invokeOutput = (token, names, args, opts) =>
    pulumi.runtime.invokeOutput(token, chosen(names, args), { ...origin(), ...opts }, reference());
exports.invokeSingle = (token, names, args, opts) =>
    pulumi.runtime.invokeSingle(token, chosen(names, args), { ...origin(), ...opts }, reference());
exports.invokeSingleOutput = (token, names, args, opts) =>
    pulumi.runtime.invokeSingleOutput(token, chosen(names, args), { ...origin(), ...opts }, reference());

/** Calls a method of a resource. */
exports.call = (resource, token, names, args) =>
    pulumi.runtime.call(token, { ...chosen(names, args), __self__: resource }, resource, reference());
exports.callSingle = (resource, token, names, args) =>
    pulumi.runtime.callSingle(token, { ...chosen(names, args), __self__: resource }, resource, reference());

/** The answer of a method that has to be known at once. */
exports.plain = async (token, answer) => {
    const value = await answer.promise();
    if (!(await answer.isKnown)) {
        throw new Error(`the answer of ${token} is not known yet`);
    }
    if (await answer.isSecret) {
        throw new Error(`the answer of ${token} is a secret, which a plain value cannot be`);
    }
    return value;
};

/** Gives a module what is configured for the package. */
exports.configuration = (module, variables) => {
    const config = new pulumi.Config(about.name);
    for (const [name, variable] of Object.entries(variables)) {
        const get = () => {
            const value = variable.type === "string" ? config.get(name) : config.getObject(name);
            return value === undefined ? usually(variable) : value;
        };
        Object.defineProperty(module, name, { get, enumerable: true });
    }
};
