package trace

import "bytes"

// commaFields splits a line of comma-separated values into fields.
func commaFields(line []byte, into [][]byte) (fields [][]byte, ok bool) {
	return fieldsOf(line, ',', into)
}

// fieldsOf splits a line into fields. A field may be in quotes, with a quote inside doubled. It may not contain a
// line break, because a missing quote must not lose the next lines. ok is false if a quote is open at the end.
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
