// Package protowire encodes and decodes protobuf messages without generated code.
package protowire
