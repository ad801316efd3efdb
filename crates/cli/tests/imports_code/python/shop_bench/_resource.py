import pulumi


def register(resource, cls, token, name, args, given, opts, secrets=()):
    """As generated SDKs do it: with the version of the package, and what the schema calls secret hidden."""
    usual = pulumi.ResourceOptions(version="1.0.0", additional_secret_outputs=list(secrets))
    props = args.__new__(args)
    props.__dict__.update(given)
    options = pulumi.ResourceOptions.merge(usual, opts)
    super(cls, resource).__init__(token, name, props, options)
