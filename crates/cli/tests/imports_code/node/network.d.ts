import * as pulumi from "@pulumi/pulumi";

export type Protocol = "tcp" | "udp";

export interface RuleArgs {
    fromPort: pulumi.Input<number>;
    protocol: pulumi.Input<Protocol>;
    cidrBlocks?: pulumi.Input<pulumi.Input<string>[]>;
    extraLabels?: pulumi.Input<{ [key: string]: pulumi.Input<string> }>;
    next?: pulumi.Input<RuleArgs>;
}

export interface SubnetArgs {
    itemId: pulumi.Input<string>;
    itemName?: pulumi.Input<string | undefined>;
    mode?: pulumi.Input<Protocol>;
    rules?: pulumi.Input<pulumi.Input<RuleArgs>[]>;
    rulesByName?: pulumi.Input<{ [key: string]: pulumi.Input<RuleArgs> }>;
}

export declare class Subnet extends pulumi.CustomResource {
    readonly itemId: pulumi.Output<string>;
    constructor(name: string, args: SubnetArgs, options?: pulumi.CustomResourceOptions);
}
