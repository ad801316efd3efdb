import * as pulumi from "@pulumi/pulumi";

export const greeting = `Hello from ${pulumi.getStack()}`;
