package main

import (
	"context"
	"errors"
	"fmt"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
)

// group is the component `ledger:index:Group`: as many items as its `count` says.
type group struct {
	pulumi.ResourceState
	Names pulumi.StringArrayOutput `pulumi:"names"`
	Token pulumi.StringOutput      `pulumi:"token"`
}

type groupItem struct {
	pulumi.CustomResourceState
	Name  pulumi.StringOutput `pulumi:"name"`
	Token pulumi.StringOutput `pulumi:"token"`
}

func (l *ledger) construct(ctx context.Context, r p.ConstructRequest) (p.ConstructResponse, error) {
	l.world.record(call{Method: "construct", Urn: string(r.Urn), Preview: r.DryRun, Inputs: shown(r.Inputs)})
	return p.ProgramConstruct(ctx, r, func(
		ctx *pulumi.Context, kind, name string, given provider.ConstructInputs, options pulumi.ResourceOption,
	) (*provider.ConstructResult, error) {
		if kind != "ledger:index:Group" {
			return nil, fmt.Errorf("there is no component %q", kind)
		}
		args, err := given.Map()
		if err != nil {
			return nil, err
		}
		made := &group{}
		if err := ctx.RegisterComponentResource(kind, name, made, options); err != nil {
			return nil, err
		}
		names := pulumi.StringArray{}
		var items []*groupItem
		for n := range int(r.Inputs.Get("count").AsNumber()) {
			itemArgs := pulumi.Map{}
			for _, key := range []string{"kind", "value", "secret"} {
				if v, ok := args[key]; ok {
					itemArgs[key] = v
				}
			}
			item := &groupItem{}
			itemName := fmt.Sprintf("%s-%d", name, n)
			if err := ctx.RegisterResource("ledger:index:Item", itemName, itemArgs, item, pulumi.Parent(made)); err != nil {
				return nil, err
			}
			if n == 0 {
				made.Token = item.Token
			}
			names = append(names, item.Name)
			items = append(items, item)
		}
		if flag(r.Inputs, "fail") {
			// Its items are made when it fails, so that what it leaves does not depend on who is quicker.
			for _, item := range items {
				if _, err := internals.UnsafeAwaitOutput(ctx.Context(), item.URN()); err != nil {
					return nil, err
				}
			}
			return nil, errors.New("asked to fail at construct")
		}
		made.Names = names.ToStringArrayOutput()
		results := pulumi.Map{"names": made.Names}
		if len(names) > 0 {
			results["token"] = made.Token
		}
		if err := ctx.RegisterResourceOutputs(made, results); err != nil {
			return nil, err
		}
		return &provider.ConstructResult{URN: made.URN(), State: results}, nil
	})
}
