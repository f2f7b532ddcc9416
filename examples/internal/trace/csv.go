package trace

import "bytes"

// commaFields takes the fields of a line of comma-separated values.
func commaFields(line []byte, into [][]byte) (fields [][]byte, ok bool) {
	return fieldsOf(line, ',', into)
}

// fieldsOf takes the fields of a line that stand between separators. A field may stand in quotes, doubled within it,
// but not go on over a line break: a quote that is lost must not cost the records behind it. It is not ok if a quote
// is open.
func fieldsOf(line []byte, sep byte, into [][]byte) (fields [][]byte, ok bool) {
	fields = into[:0]
	for {
		if len(line) > 0 && line[0] == '"' {
			field, rest, ok := quotedField(line[1:])
			if !ok {
				return fields, false
			}
			fields, line = append(fields, field), rest
		} else {
			end := bytes.IndexByte(line, sep)
			if end < 0 {
				return append(fields, bytes.TrimSpace(line)), true
			}
			fields, line = append(fields, bytes.TrimSpace(line[:end])), line[end:]
		}
		if len(line) == 0 {
			return fields, true
		}
		if line[0] != sep {
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
