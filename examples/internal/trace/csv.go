package trace

import "bytes"

// commaFields takes the fields of a line of comma-separated values. A field may stand in quotes, doubled within it,
// but not go on over a line break: a quote that is lost must not cost the records behind it. It is not ok if a quote
// is open.
func commaFields(line []byte, into [][]byte) (fields [][]byte, ok bool) {
	fields = into[:0]
	for {
		if len(line) > 0 && line[0] == '"' {
			field, rest, ok := quotedField(line[1:])
			if !ok {
				return fields, false
			}
			fields, line = append(fields, field), rest
		} else {
			end := bytes.IndexByte(line, ',')
			if end < 0 {
				return append(fields, bytes.TrimSpace(line)), true
			}
			fields, line = append(fields, bytes.TrimSpace(line[:end])), line[end:]
		}
		if len(line) == 0 {
			return fields, true
		}
		if line[0] != ',' {
			return fields, false
		}
		line = line[1:]
	}
}

func quotedField(line []byte) (field, rest []byte, ok bool) {
	for i := 0; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 == len(line) || line[i+1] != '"' {
			return bytes.ReplaceAll(line[:i], []byte(`""`), []byte(`"`)), line[i+1:], true
		}
		i++
	}
	return nil, nil, false
}

// table reads the normal form as comma-separated values: the first line names the fields.
type table struct {
	*builder
	columns [][]byte
	fields  [][]byte
}

func readTable(l *lineReader) *builder {
	t := &table{builder: newBuilder(Table)}
	t.eachLine(l, t.line)
	return t.builder
}

// tableColumns reads the first line of a table; nil if it is none. It names a phase and a start or a finish.
func tableColumns(line []byte) [][]byte {
	fields, ok := commaFields(line, nil)
	if !ok {
		return nil
	}
	columns := make([][]byte, len(fields))
	found := map[string]bool{}
	for i, f := range fields {
		columns[i] = bytes.ToLower(f)
		found[string(columns[i])] = true
	}
	if found["phase"] && (found["start"] || found["finish"]) {
		return columns
	}
	return nil
}

func (t *table) line(line []byte) bool {
	if t.columns == nil {
		t.columns = tableColumns(line)
		return t.columns != nil
	}
	var ok bool
	if t.fields, ok = commaFields(line, t.fields); !ok || len(t.fields) != len(t.columns) {
		return false
	}
	n := normalLine{task: -1, tasks: -1}
	for i, field := range t.fields {
		if len(field) == 0 {
			continue
		}
		c := &cursor{data: field, plain: true}
		n.member(c, t.columns[i])
		if c.pos > 0 && !c.done() { // a number with something behind it
			return false
		}
	}
	return t.take(&n)
}
