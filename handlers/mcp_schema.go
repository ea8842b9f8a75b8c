package handlers

// member is one argument of a tool.
type member struct {
	name, says, kind string
	codes            []string
	required         bool
}

func word(name, says string, codes ...string) member {
	return member{name: name, says: says, kind: "string", codes: codes}
}

func flag(name, says string) member { return member{name: name, says: says, kind: "boolean"} }

func (m member) needed() member {
	m.required = true
	return m
}

// arguments is the JSON Schema of a tool's arguments. What is not needed may be null; nothing else may be there.
func arguments(members ...member) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, m := range members {
		p := map[string]any{"description": m.says, "type": m.kind}
		var codes []any
		for _, c := range m.codes {
			codes = append(codes, c)
		}
		if m.required {
			required = append(required, m.name)
		} else {
			p["type"] = []string{m.kind, "null"}
			if codes != nil {
				codes = append(codes, nil)
			}
		}
		if codes != nil {
			p["enum"] = codes
		}
		properties[m.name] = p
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}
