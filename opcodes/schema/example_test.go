package schema_test

import (
	"fmt"

	"github.com/lshark/lshark/opcodes/schema"
)

// Declare a struct with a validity rule, and read bytes by it.
func Example() {
	valid := schema.Bits("pet_valid", "PET_", "valid fields", []schema.Value{{Name: "AGE", Value: 1}})
	name := schema.Str("p_name", 8, schema.PlainName, "its name")
	age := schema.U16("p_age", schema.Harmless, schema.When{"p_valid", "AGE"}, "its age")
	pet := &schema.Struct{Name: "pet", Doc: "an animal", Fields: []*schema.Field{
		schema.U16("p_valid", &valid, "valid fields"),
		age,
		name,
	}}
	pet.Resolve()

	b := []byte{1, 0, 7, 0, 'T', 'o', 'm', 0, 0, 0, 0, 0}
	v := &schema.View{Struct: b, Type: pet}
	fmt.Println(pet.Size, age.Off, age.TypeText())
	fmt.Println(age.Valid(v), v.Uint(age))
	fmt.Printf("%s\n", schema.TrimNUL(name.Bytes(b)))
	// Output:
	// 12 2 u16
	// true 7
	// Tom
}
