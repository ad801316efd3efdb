import * as pulumi from "@pulumi/pulumi";
import * as network from "./network";

export { network };

export interface CronTriggerArgs {
    kind: pulumi.Input<"cron">;
    cronExpression: pulumi.Input<string>;
}

export interface EventTriggerArgs {
    kind: pulumi.Input<"event">;
    eventName: pulumi.Input<string>;
}

export interface ItemArgs {
    name?: pulumi.Input<string>;
    size?: pulumi.Input<number>;
    ratio?: pulumi.Input<number>;
    enableDNSSupport?: pulumi.Input<boolean>;
    from?: pulumi.Input<string>;
    anything?: any;
    resourceTags?: pulumi.Input<{ [key: string]: pulumi.Input<string> }>;
    secretText?: pulumi.Input<string>;
    bundle?: pulumi.Input<pulumi.asset.Archive>;
    sourceFile?: pulumi.Input<pulumi.asset.Asset | pulumi.asset.Archive>;
    kind?: pulumi.Input<string>;
    trigger?: pulumi.Input<CronTriggerArgs | EventTriggerArgs>;
}

export declare class Item extends pulumi.CustomResource {
    readonly name: pulumi.Output<string | undefined>;
    readonly arn: pulumi.Output<string | undefined>;
    constructor(name: string, args?: ItemArgs, options?: pulumi.CustomResourceOptions);
}

export interface ProviderArgs {
    region?: pulumi.Input<string>;
    retries?: pulumi.Input<number>;
    accessKey?: pulumi.Input<string>;
}

export declare class Provider extends pulumi.ProviderResource {
    constructor(name: string, args?: ProviderArgs, options?: pulumi.ResourceOptions);
}
