package cli

import (
	"maps"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/step"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/launch"
)

// schemaNode is a JSON Schema (2020-12) as far as drydock.yaml needs it. The
// maps are written with sorted keys.
type schemaNode struct {
	Schema      string                 `json:"$schema,omitempty"`
	Title       string                 `json:"title,omitempty"`
	Description string                 `json:"description,omitempty"`
	Type        any                    `json:"type,omitempty"`
	Enum        []string               `json:"enum,omitempty"`
	Properties  map[string]*schemaNode `json:"properties,omitempty"`
	Required    []string               `json:"required,omitempty"`
	Extra       *bool                  `json:"additionalProperties,omitempty"`
	Items       *schemaNode            `json:"items,omitempty"`
	AnyOf       []*schemaNode          `json:"anyOf,omitempty"`
	MinProps    int                    `json:"minProperties,omitempty"`
	MaxProps    int                    `json:"maxProperties,omitempty"`
}

// ConfigSchema returns the JSON Schema of drydock.yaml, for editors that
// complete and check as one types.
func ConfigSchema() ([]byte, error) {
	root := objectSchema(spec.FieldsOf(pipeline.Config{}))
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "drydock.yaml"
	steps := append(named(step.Parsers()), named(step.Steps())...)
	train := componentSchema(named(launch.Trainers()))
	train.Properties["dry_run"] = &schemaNode{Type: "boolean", Description: "Plan the training, and start nothing."}
	train.MaxProps = 2
	for name, node := range map[string]*schemaNode{
		"steps":  {Type: "array", Items: orBare(componentSchema(steps))},
		"output": {Type: "array", Items: orBare(componentSchema(named(emit.Emitters())))},
		"train":  train,
	} {
		node.Description = root.Properties[name].Description
		root.Properties[name] = node
	}
	return drydock.MarshalJSON(root)
}

type namedFields struct {
	name    string
	summary msg.Text
	fields  []spec.Field
}

func named[T any](specs []spec.Spec[T]) []namedFields {
	var out []namedFields
	for _, s := range specs {
		out = append(out, namedFields{s.Name, s.Summary, s.Fields})
	}
	return out
}

// componentSchema is an object with one key, a component's name, over its
// options.
func componentSchema(list []namedFields) *schemaNode {
	no := false
	obj := &schemaNode{Type: "object", Properties: map[string]*schemaNode{}, MinProps: 1, MaxProps: 1, Extra: &no}
	for _, c := range list {
		o := objectSchema(c.fields)
		o.Description = c.summary[msg.En]
		if len(o.Required) == 0 {
			o.Type = []string{"object", "null"}
		}
		obj.Properties[c.name] = o
	}
	return obj
}

// orBare also allows the name alone of a component that needs no option.
func orBare(obj *schemaNode) *schemaNode {
	var bare []string
	for _, name := range slices.Sorted(maps.Keys(obj.Properties)) {
		if len(obj.Properties[name].Required) == 0 {
			bare = append(bare, name)
		}
	}
	return &schemaNode{AnyOf: []*schemaNode{{Enum: bare}, obj}}
}

func objectSchema(fields []spec.Field) *schemaNode {
	no := false
	n := &schemaNode{Type: "object", Properties: map[string]*schemaNode{}, Extra: &no}
	for _, f := range fields {
		n.Properties[f.Name] = fieldSchema(f)
		if f.Required {
			n.Required = append(n.Required, f.Name)
		}
	}
	return n
}

func fieldSchema(f spec.Field) *schemaNode {
	n := &schemaNode{}
	switch f.Type {
	case "bool":
		n.Type = "boolean"
	case "int":
		n.Type = "integer"
	case "number":
		n.Type = "number"
	case "list":
		n.Type = "array"
		if len(f.Fields) > 0 {
			n.Items = objectSchema(f.Fields)
		} else {
			n.Type = []string{"array", "string"} // one value may stand without brackets
		}
	case "map":
		n.Type = "object"
	case "object":
		n = objectSchema(f.Fields)
	default:
		n.Type = "string"
		n.Enum = f.Enum
	}
	n.Description = f.Help[msg.En]
	return n
}
