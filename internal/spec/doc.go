// Package spec lets components describe themselves once. An option struct with
// its defaults is the whole declaration: from it come the decoder of the YAML
// node, every finding with line, column and caret, the reference documentation
// and the JSON Schema for editors.
//
// A field's tags: yaml (the key), help and zh (what it does, in both
// languages), enum (allowed values, comma separated), required ("true").
// Anonymous struct fields are flattened. A type with a DecodeSpec method decodes
// itself, and one that embeds [Place] learns where it stood.
package spec
