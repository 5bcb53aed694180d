// Package explain writes the declarations of the protocol (operations, structs, fields, names)
// and the meaning of single values: the answers of lshark explain, lshark decode and lshark fields.
package explain
