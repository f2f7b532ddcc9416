package junit_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/examples/internal/junit"
)

func read(text string) (seen string, mistakes int, half bool) {
	mistakes, half = junit.Read(strings.NewReader(text), func(e *xml.StartElement) {
		seen += "<" + e.Name.Local
		for _, a := range e.Attr {
			if a.Name.Local == "name" {
				seen += " " + a.Value
			}
		}
	}, func(name string) { seen += ">" + fmt.Sprint(name[4:5]) })
	return seen, mistakes, half
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`<testsuites><testsuite name="s"><testcase name="a"/><testcase name="b"></testcase></testsuite></testsuites>`: "<testsuites<testsuite s<testcase a>c<testcase b>c>s>s 0",
		// Colours, and an & that is not one.
		"<testsuite name=\"s\"><testcase name=\"a & b\"><failure>\x1b[31mred\x00</failure></testcase></testsuite>": "<testsuite s<testcase a & b<failure>u>c>s 0",
		// A test that prints what ends nothing, and one that breaks off its tag.
		`<testsuite name="s"><testcase name="a"><failure> 1 < 2 and </b> </failure></testcase><testcase name="b"/></testsuite><testsuite name="t"/>`: "<testsuite s<testcase a<failure>c<testcase b>c>s<testsuite t>s 1",
		`<testsuite name="s"><testcase name="a" <testcase name="b"/></testsuite><testsuite name="t"><testcase name="c"/></testsuite>`:                "<testsuite s>s<testsuite t<testcase c>c>s 1",
		// It breaks off.
		`<testsuite name="s"><testcase name="a"><system-out>x`: "<testsuite s<testcase a<system-out>c 0",
		`<testsuite name="s"><testcase name="a"/><testca`:      "<testsuite s<testcase a>c 0",
		// The suites around go on, and end.
		`<testsuites><testsuite name="s"><testcase name="a"></b></testcase><testcase name="b"/></testsuite></testsuites>`: "<testsuites<testsuite s<testcase a>c<testcase b>c>s>s 0",
		"": " 0", "no end < at all": " 1",
	} {
		seen, mistakes, half := read(text)
		assert.Equal(t, want, fmt.Sprint(seen, " ", mistakes), text)
		assert.Equal(t, strings.HasPrefix(text, "<") && !strings.HasSuffix(text, ">"), half, text)
	}
}

// A byte that is not valid UTF-8 is read as ISO-8859-1. A report with the encoding ISO-8859-1 in its first line is
// read so to the end, also after an error.
func TestCharacters(t *testing.T) {
	const latin, utf8 = `<?xml version="1.0" encoding="iso-8859-1"?>`, `<?xml version="1.0" encoding="UTF-8"?>`
	for text, want := range map[string]string{
		utf8 + "<testcase name=\"\u00e9 \u65e5 \xe9\"/>": "é 日 é",
		latin + "<testcase name=\"\xe9 \xc3\xa9\"/>":     "é Ã©",
		latin + "<testsuite><testcase name=\"a\"><failure> 1 < 2 and </b> </failure></testcase>" +
			"<testcase name=\"\xc3\xa9\"/></testsuite>": "Ã©",
		"<testcase name=\"\xff\x80\x01\"/>": "ÿ\u0080 ",
	} {
		for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			name := ""
			junit.Read(in, func(e *xml.StartElement) {
				if e.Name.Local == junit.Case {
					name = e.Attr[0].Value
				}
			}, func(string) {})
			assert.Equal(t, want, name, "%q", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`<testsuite name="s"><testcase name="a"><failure> 1 < 2 and </b> </failure></testcase></testsuite>`)
	f.Add("<testsuites><testcase/></testsuite><testcase")
	f.Fuzz(func(t *testing.T, text string) {
		mistakes, _ := junit.Read(strings.NewReader(text), func(*xml.StartElement) {}, func(string) {})
		assert.LessOrEqual(t, mistakes, 1+strings.Count(text, "<"))
	})
}
