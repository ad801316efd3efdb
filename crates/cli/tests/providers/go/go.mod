module drystone.tests/ledger

go 1.25.11

require (
	github.com/pulumi/pulumi-go-provider v1.5.0
	github.com/pulumi/pulumi/sdk/v3 v3.259.0
)
