// The provider `ledger`: resources of a world that is a folder, which behave as their inputs ask.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"
	"time"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

//go:embed schema.json
var schema string

// inputKeys are what a resource is given; true for those whose change replaces it.
var inputKeys = map[string]bool{
	"name": true, "kind": true, "size": false, "value": false, "tags": false, "secret": false,
	"deleteBeforeReplace": false, "failOn": false, "initError": false, "delayMs": false,
}

type ledger struct {
	world *world
	zone  string
}

func main() {
	l := &ledger{world: openWorld()}
	err := p.RunProvider(context.Background(), "ledger", "1.0.0", p.Provider{
		GetSchema: func(context.Context, p.GetSchemaRequest) (p.GetSchemaResponse, error) {
			return p.GetSchemaResponse{Schema: schema}, nil
		},
		CheckConfig: l.checkConfig,
		DiffConfig:  l.diffConfig,
		Configure:   l.configure,
		Check:       l.check,
		Diff:        l.diff,
		Create:      l.create,
		Read:        l.read,
		Update:      l.update,
		Delete:      l.delete,
		Invoke:      l.invoke,
		Construct:   l.construct,
		Call:        l.call,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func text(m property.Map, key string) string {
	if v := m.Get(key); v.IsString() {
		return v.AsString()
	}
	return ""
}

func flag(m property.Map, key string) bool {
	v := m.Get(key)
	return v.IsBool() && v.AsBool()
}

func (l *ledger) checkConfig(_ context.Context, r p.CheckRequest) (p.CheckResponse, error) {
	l.world.record(call{Method: "checkConfig", Urn: string(r.Urn), Inputs: shown(r.Inputs), Olds: shown(r.State)})
	inputs := r.Inputs
	if v, ok := inputs.GetOk("key"); ok {
		inputs = inputs.Set("key", v.WithSecret(true))
	}
	return p.CheckResponse{Inputs: inputs}, nil
}

func (l *ledger) diffConfig(_ context.Context, r p.DiffRequest) (p.DiffResponse, error) {
	l.world.record(call{Method: "diffConfig", Urn: string(r.Urn), ID: r.ID, Inputs: shown(r.Inputs),
		State: shown(r.State), Olds: shown(r.OldInputs)})
	return difference(r.OldInputs, r.Inputs, map[string]bool{"zone": true, "note": false, "key": false}), nil
}

func (l *ledger) configure(_ context.Context, r p.ConfigureRequest) error {
	l.world.record(call{Method: "configure", Inputs: shown(r.Args)})
	l.zone = text(r.Args, "zone")
	return nil
}

// difference compares what is known of old values with new ones; unknown new values count as changed.
func difference(olds, news property.Map, keys map[string]bool) p.DiffResponse {
	detailed := map[string]p.PropertyDiff{}
	for key, replaces := range keys {
		before, had := olds.GetOk(key)
		after, has := news.GetOk(key)
		kind := p.Update
		switch {
		case had == has && reflect.DeepEqual(plain(before, false), plain(after, false)):
			continue
		case !had:
			kind = p.Add
		case !has:
			kind = p.Delete
		}
		if replaces {
			kind += "&replace"
		}
		detailed[key] = p.PropertyDiff{Kind: kind}
	}
	return p.DiffResponse{
		HasChanges:          len(detailed) > 0,
		DetailedDiff:        detailed,
		DeleteBeforeReplace: flag(news, "deleteBeforeReplace"),
	}
}

func (l *ledger) check(_ context.Context, r p.CheckRequest) (p.CheckResponse, error) {
	l.world.record(call{Method: "check", Urn: string(r.Urn), Inputs: shown(r.Inputs), Olds: shown(r.State)})
	inputs := r.Inputs
	if text(inputs, "failOn") == "check" {
		return p.CheckResponse{Inputs: inputs, Failures: []p.CheckFailure{
			{Property: "failOn", Reason: "asked to fail at check"},
		}}, nil
	}
	if size := inputs.Get("size"); size.IsNumber() && size.AsNumber() < 0 {
		return p.CheckResponse{Inputs: inputs, Failures: []p.CheckFailure{
			{Property: "size", Reason: "must not be negative"},
		}}, nil
	}
	if _, given := inputs.GetOk("name"); !given {
		name, had := r.State.GetOk("name")
		if !had {
			name = property.New(l.world.free(r.Urn.Name()))
		}
		inputs = inputs.Set("name", name)
	}
	if v, ok := inputs.GetOk("secret"); ok {
		inputs = inputs.Set("secret", v.WithSecret(true))
	}
	return p.CheckResponse{Inputs: inputs}, nil
}

func (l *ledger) diff(_ context.Context, r p.DiffRequest) (p.DiffResponse, error) {
	l.world.record(call{Method: "diff", Urn: string(r.Urn), ID: r.ID, Inputs: shown(r.Inputs),
		State: shown(r.State), Olds: shown(r.OldInputs), Ignored: r.IgnoreChanges})
	if text(r.Inputs, "failOn") == "diff" {
		return p.DiffResponse{}, errors.New("asked to fail at diff")
	}
	return difference(r.State, r.Inputs, inputKeys), nil
}

// outputs are a resource's properties as the world has them.
func outputs(o *object) property.Map {
	props := inputs(o)
	props = props.Set("token", property.New("token-of-"+o.ID).WithSecret(true))
	props = props.Set("serial", property.New(float64(o.Serial)))
	if o.Zone != "" {
		props = props.Set("zone", property.New(o.Zone))
	}
	return props
}

func inputs(o *object) property.Map {
	props := valueMap(o.Inputs)
	for _, key := range o.Secrets {
		if v, ok := props.GetOk(key); ok {
			props = props.Set(key, v.WithSecret(true))
		}
	}
	return props
}

func (l *ledger) object(id, urn string, props property.Map, serial int) *object {
	secrets := []string{}
	for key, v := range props.All {
		if hasSecret(v) {
			secrets = append(secrets, key)
		}
	}
	sort.Strings(secrets)
	return &object{ID: id, Urn: urn, Inputs: plainMap(props, false), Secrets: secrets, Serial: serial, Zone: l.zone}
}

func pause(props property.Map) {
	if v := props.Get("delayMs"); v.IsNumber() {
		time.Sleep(time.Duration(v.AsNumber()) * time.Millisecond)
	}
}

// planned are the properties that a preview knows.
func (l *ledger) planned(props property.Map, token property.Value) property.Map {
	props = props.Set("token", token.WithSecret(true)).Set("serial", property.New(property.Computed))
	if l.zone != "" {
		props = props.Set("zone", property.New(l.zone))
	}
	return props
}

func (l *ledger) create(_ context.Context, r p.CreateRequest) (p.CreateResponse, error) {
	done := l.world.record(call{Method: "create", Urn: string(r.Urn), Preview: r.DryRun, Timeout: r.Timeout,
		Inputs: shown(r.Properties)})
	if r.DryRun {
		return p.CreateResponse{Properties: l.planned(r.Properties, property.New(property.Computed))}, nil
	}
	pause(r.Properties)
	if text(r.Properties, "failOn") == "create" {
		return p.CreateResponse{}, errors.New("asked to fail at create")
	}
	made := l.object(text(r.Properties, "name"), string(r.Urn), r.Properties, 1)
	if err := l.world.put(made, true); err != nil {
		return p.CreateResponse{}, err
	}
	done()
	response := p.CreateResponse{ID: made.ID, Properties: outputs(made)}
	return response, halfDone(r.Properties, &response.PartialState)
}

func halfDone(props property.Map, state **p.InitializationFailed) error {
	if !flag(props, "initError") {
		return nil
	}
	*state = &p.InitializationFailed{Reasons: []string{"asked to be half done"}}
	return errors.New("asked to be half done")
}

func (l *ledger) read(_ context.Context, r p.ReadRequest) (p.ReadResponse, error) {
	l.world.record(call{Method: "read", Urn: string(r.Urn), ID: r.ID, Inputs: shown(r.Inputs), State: shown(r.Properties)})
	if text(r.Properties, "failOn") == "read" {
		return p.ReadResponse{}, errors.New("asked to fail at read")
	}
	found, err := l.world.get(r.ID)
	if err != nil || found == nil {
		return p.ReadResponse{}, err
	}
	return p.ReadResponse{ID: found.ID, Properties: outputs(found), Inputs: inputs(found)}, nil
}

func (l *ledger) update(_ context.Context, r p.UpdateRequest) (p.UpdateResponse, error) {
	done := l.world.record(call{Method: "update", Urn: string(r.Urn), ID: r.ID, Preview: r.DryRun, Timeout: r.Timeout,
		Inputs: shown(r.Inputs), State: shown(r.State), Olds: shown(r.OldInputs), Ignored: r.IgnoreChanges})
	if r.DryRun {
		return p.UpdateResponse{Properties: l.planned(r.Inputs, r.State.Get("token"))}, nil
	}
	pause(r.Inputs)
	if text(r.Inputs, "failOn") == "update" {
		return p.UpdateResponse{}, errors.New("asked to fail at update")
	}
	found, err := l.world.get(r.ID)
	if err != nil {
		return p.UpdateResponse{}, err
	}
	if found == nil {
		return p.UpdateResponse{}, fmt.Errorf("there is no object named %q", r.ID)
	}
	changed := l.object(r.ID, string(r.Urn), r.Inputs, found.Serial+1)
	if err := l.world.put(changed, false); err != nil {
		return p.UpdateResponse{}, err
	}
	done()
	response := p.UpdateResponse{Properties: outputs(changed)}
	return response, halfDone(r.Inputs, &response.PartialState)
}

func (l *ledger) delete(_ context.Context, r p.DeleteRequest) error {
	done := l.world.record(call{Method: "delete", Urn: string(r.Urn), ID: r.ID, Timeout: r.Timeout,
		State: shown(r.Properties), Olds: shown(r.OldInputs)})
	pause(r.Properties)
	if text(r.Properties, "failOn") == "delete" {
		return errors.New("asked to fail at delete")
	}
	if err := l.world.remove(r.ID); err != nil {
		return err
	}
	done()
	return nil
}

func (l *ledger) invoke(_ context.Context, r p.InvokeRequest) (p.InvokeResponse, error) {
	l.world.record(call{Method: "invoke", ID: string(r.Token), Inputs: shown(r.Args)})
	if string(r.Token) != "ledger:index:lookup" {
		return p.InvokeResponse{}, fmt.Errorf("there is no function %q", r.Token)
	}
	if flag(r.Args, "fail") {
		return p.InvokeResponse{}, errors.New("asked to fail at invoke")
	}
	found, err := l.world.get(text(r.Args, "id"))
	if err != nil {
		return p.InvokeResponse{}, err
	}
	if found == nil {
		return p.InvokeResponse{Return: property.NewMap(map[string]property.Value{"found": property.New(false)})}, nil
	}
	return p.InvokeResponse{Return: property.NewMap(map[string]property.Value{
		"found":  property.New(true),
		"value":  value(found.Inputs["value"]),
		"serial": property.New(float64(found.Serial)),
		"token":  property.New("token-of-" + found.ID).WithSecret(true),
	})}, nil
}

func (l *ledger) call(_ context.Context, r p.CallRequest) (p.CallResponse, error) {
	l.world.record(call{Method: "call", ID: string(r.Tok), Preview: r.DryRun, Inputs: shown(r.Args)})
	self := r.Args.Get("__self__")
	if !self.IsResourceReference() {
		return p.CallResponse{}, errors.New("describe needs the group it is called on")
	}
	name := resource.URN(self.AsResourceReference().URN).Name()
	return p.CallResponse{Return: property.NewMap(map[string]property.Value{
		"text": property.New(text(r.Args, "greeting") + " from " + name),
	})}, nil
}
