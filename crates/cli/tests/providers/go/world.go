package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// object is what really exists: one file of the world each.
type object struct {
	ID      string         `json:"id"`
	Urn     string         `json:"urn"`
	Inputs  map[string]any `json:"inputs"`
	Secrets []string       `json:"secrets"`
	Serial  int            `json:"serial"`
	Zone    string         `json:"zone,omitempty"`
}

// world is the folder of LEDGER_WORLD: objects, and calls.jsonl with every call that was made.
type world struct {
	folder string
	mutex  sync.Mutex
	counts map[string]int
}

func openWorld() *world {
	folder := os.Getenv("LEDGER_WORLD")
	if folder == "" {
		folder = filepath.Join(os.TempDir(), "ledger-world")
	}
	if err := os.MkdirAll(filepath.Join(folder, "objects"), 0o755); err != nil {
		panic(err)
	}
	return &world{folder: folder, counts: map[string]int{}}
}

// call is one line of calls.jsonl.
type call struct {
	Method  string         `json:"method"`
	Urn     string         `json:"urn,omitempty"`
	ID      string         `json:"id,omitempty"`
	Preview bool           `json:"preview,omitempty"`
	Timeout float64        `json:"timeout,omitempty"`
	Inputs  map[string]any `json:"inputs,omitempty"`
	State   map[string]any `json:"state,omitempty"`
	Olds    map[string]any `json:"olds,omitempty"`
	Ignored []string       `json:"ignoreChanges,omitempty"`
}

// record writes a call down for good before it is carried out, and crashes or hangs when that was asked for.
//
// What it returns is to be called when the work is done and not answered yet.
func (w *world) record(c call) func() {
	line, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	file, err := os.OpenFile(filepath.Join(w.folder, "calls.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		panic(err)
	}
	if err := file.Sync(); err != nil {
		panic(err)
	}
	if c.Preview {
		return func() {}
	}
	w.counts[c.Method]++
	count := w.counts[c.Method]
	misbehave(c.Method, count, "before")
	return func() { misbehave(c.Method, count, "after") }
}

// misbehave crashes (LEDGER_KILL_AT) or hangs (LEDGER_HANG) at a call given as `method:number[:after]`.
func misbehave(method string, count int, moment string) {
	at := func(name string) bool {
		parts := strings.Split(os.Getenv(name), ":")
		if len(parts) < 2 || parts[0] != method || parts[1] != strconv.Itoa(count) {
			return false
		}
		return (len(parts) == 3 && parts[2] == "after") == (moment == "after")
	}
	if at("LEDGER_KILL_AT") {
		os.Exit(137)
	}
	if at("LEDGER_HANG") {
		select {}
	}
}

func (w *world) path(id string) string {
	return filepath.Join(w.folder, "objects", strings.ReplaceAll(id, "/", "_")+".json")
}

// free gives the first name made from a stem that nothing has.
func (w *world) free(stem string) string {
	name := stem
	for n := 2; ; n++ {
		if _, err := os.Stat(w.path(name)); os.IsNotExist(err) {
			return name
		}
		name = fmt.Sprintf("%s-%d", stem, n)
	}
}

func (w *world) get(id string) (*object, error) {
	text, err := os.ReadFile(w.path(id))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := &object{}
	return found, json.Unmarshal(text, found)
}

// put writes an object whole or not at all. A new one must not exist yet.
func (w *world) put(o *object, isNew bool) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	draft := fmt.Sprintf("%s.%d", w.path(o.ID), time.Now().UnixNano())
	if err := os.WriteFile(draft, text, 0o644); err != nil {
		return err
	}
	defer os.Remove(draft)
	if !isNew {
		return os.Rename(draft, w.path(o.ID))
	}
	if err := os.Link(draft, w.path(o.ID)); err != nil {
		if os.IsExist(err) {
			return fmt.Errorf("an object named %q exists", o.ID)
		}
		return err
	}
	return nil
}

func (w *world) remove(id string) error {
	if err := os.Remove(w.path(id)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

const unknown = "[unknown]"

// shown is a map as calls.jsonl keeps it: secrets are masked, unknown values are marked.
func shown(m property.Map) map[string]any {
	return plainMap(m, true)
}

func plainMap(m property.Map, mask bool) map[string]any {
	result := map[string]any{}
	for key, value := range m.All {
		result[key] = plain(value, mask)
	}
	return result
}

func plain(v property.Value, mask bool) any {
	switch {
	case v.Secret() && mask && v.IsComputed():
		return "[secret unknown]"
	case v.Secret() && mask:
		return "[secret]"
	case v.IsBool():
		return v.AsBool()
	case v.IsNumber():
		return v.AsNumber()
	case v.IsString():
		return v.AsString()
	case v.IsArray():
		result := []any{}
		for _, element := range v.AsArray().All {
			result = append(result, plain(element, mask))
		}
		return result
	case v.IsMap():
		return plainMap(v.AsMap(), mask)
	case v.IsComputed():
		return unknown
	case v.IsAsset():
		return map[string]any{"asset": v.AsAsset().Hash}
	case v.IsArchive():
		return map[string]any{"archive": v.AsArchive().Hash}
	case v.IsResourceReference():
		return map[string]any{"resource": string(v.AsResourceReference().URN)}
	default:
		return nil
	}
}

// value is the opposite of plain, for what the world keeps.
func value(v any) property.Value {
	switch v := v.(type) {
	case bool:
		return property.New(v)
	case float64:
		return property.New(v)
	case string:
		return property.New(v)
	case []any:
		elements := []property.Value{}
		for _, element := range v {
			elements = append(elements, value(element))
		}
		return property.New(elements)
	case map[string]any:
		return property.New(valueMap(v))
	default:
		return property.Value{}
	}
}

func valueMap(m map[string]any) property.Map {
	result := map[string]property.Value{}
	for key, v := range m {
		result[key] = value(v)
	}
	return property.NewMap(result)
}

// hasSecret says whether a value is or contains a secret.
func hasSecret(v property.Value) bool {
	return v.HasSecrets()
}
