"""What all of the package's classes share."""

import asyncio
import json
import os

import pulumi
import pulumi.runtime
from pulumi.runtime.sync_await import _sync_await

# about

def reference():
    """The reference of a package that another one makes; the SDK keeps it for each run."""
    if PARAMETER is None:
        return None
    return pulumi.runtime.settings.register_package(PLUGIN, PLUGIN_VERSION, SERVER, NAME, VERSION, PARAMETER)


def arguments(kind, /, *args, **kwargs):
    """What a resource is given, one by one or as an object, and its options."""
    opts = kwargs.pop("opts", None)
    rest = list(args)
    given = kwargs.pop("args", None)
    if rest and (rest[0] is None or isinstance(rest[0], kind)):
        given = rest.pop(0)
    if rest and opts is None:
        opts = rest.pop(0)
    if opts is None:
        opts = pulumi.ResourceOptions()
    if not isinstance(opts, pulumi.ResourceOptions):
        raise TypeError("Expected resource options to be a ResourceOptions instance")
    if given is not None:
        return given, opts
    if opts.urn is not None:
        return kind.__new__(kind), opts
    return kind(**kwargs), opts


def made(kind, given, outputs, secrets):
    """What a new resource is made of: what is given, and a place for what comes back."""
    properties = kind.__new__(kind)
    for key in outputs:
        properties.__dict__[key] = None
    for key, value in given.__dict__.items():
        hidden = key in secrets and value is not None
        properties.__dict__[key] = pulumi.Output.secret(value) if hidden else value
    return properties


def written(properties, texts):
    """The configuration of a provider is texts; anything else is written as JSON."""
    for key, value in properties.__dict__.items():
        if value is not None and key not in texts:
            properties.__dict__[key] = pulumi.Output.from_input(value).apply(json.dumps)
    return properties


def usually(kind, environment, value):
    """What a property is when it is left out: what the environment says, or else the schema."""
    for name in environment:
        found = _parsed(os.environ.get(name), kind)
        if found is not None:
            return found
    return value


def _parsed(text, kind):
    if not text:
        return None
    if kind is bool:
        return {"1": True, "t": True, "true": True, "0": False, "f": False, "false": False}.get(text.lower())
    try:
        return kind(text) if kind in (int, float) else text
    except ValueError:
        return None


def configured(name, kind, environment, value):
    """What is configured for the package."""
    config = pulumi.Config(NAME)
    get = {bool: config.get_bool, int: config.get_int, float: config.get_float}.get(kind, config.get)
    found = get(name)
    return usually(kind, environment, value) if found is None else found


def call(resource, token, given, kind=None):
    """Calls a method of a resource."""
    given = {**given, "__self__": resource}
    return pulumi.runtime.call(token, given, res=resource, typ=kind, package_ref=reference())


def call_single(resource, token, given):
    given = {**given, "__self__": resource}
    return pulumi.runtime.call_single(token, given, res=resource, package_ref=reference())


def plain(token, answer):
    """The answer of a method that has to be known at once."""

    async def asked():
        return await answer.is_known(), await answer.is_secret(), await answer.future()

    is_known, is_secret, value = _sync_await(asyncio.ensure_future(asked()))
    if not is_known:
        raise RuntimeError(f"the answer of {token} is not known yet")
    if is_secret:
        raise RuntimeError(f"the answer of {token} is a secret, which a plain value cannot be")
    return value


def options(opts, aliases=(), secrets=(), replace_on_changes=()):
    """The options of a resource, with which plugin serves it and what the schema says."""
    usual = pulumi.ResourceOptions(
        version=VERSION if PARAMETER is None and VERSION else None,
        plugin_download_url=SERVER or None,
        aliases=[pulumi.Alias(type_=kind) for kind in aliases] or None,
        additional_secret_outputs=list(secrets) or None,
        replace_on_changes=list(replace_on_changes) or None,
    )
    return pulumi.ResourceOptions.merge(usual, opts)


def invoke_options(opts):
    usual = pulumi.InvokeOptions(
        version=VERSION if PARAMETER is None and VERSION else "", plugin_download_url=SERVER or None
    )
    return pulumi.InvokeOptions.merge(usual, opts) if opts is not None else usual


_kinds = {}


class _Module(pulumi.runtime.ResourceModule):
    def version(self):
        return None

    def construct(self, name, typ, urn):
        if typ not in _kinds:
            raise Exception(f"unknown resource type {typ}")
        return _kinds[typ](name, opts=pulumi.ResourceOptions(urn=urn))


class _Package(pulumi.runtime.ResourcePackage):
    def __init__(self, kind):
        self.kind = kind

    def version(self):
        return None

    def construct_provider(self, name, typ, urn):
        return self.kind(name, opts=pulumi.ResourceOptions(urn=urn))


_modules = set()


def register(kind, token):
    """Lets a reference to a resource be turned into one of its class."""
    _kinds[token] = kind
    name, module, _ = token.split(":")
    if module not in _modules:
        _modules.add(module)
        pulumi.runtime.register_resource_module(name, module, _Module())


def register_provider(kind):
    pulumi.runtime.register_resource_package(NAME, _Package(kind))
