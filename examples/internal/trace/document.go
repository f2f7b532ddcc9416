package trace

import "io"

// document reads a format of JSON objects, as APIs return them and tools print them. The objects are records, arrays
// of records, or pages that have records in a member.
type document struct {
	*builder
	c      cursor
	record members // reads the needed members of a record
	take   func()  // takes the record that was read, and clears it
	begin  func()  // clears members of a page that have the names of record members; nil: nothing
	end    func()  // is called after all records; nil: nothing
	pages  []string
	paged  bool // the object has records in a member
}

// byObjects returns the reader of a document. keys are the first keys of its objects. pages are the members that
// contain records, in an array or by name, or further such members. make sets the rest.
func byObjects(format Format, keys, pages []string, make func(d *document)) reader {
	return byStream(format, func(in io.Reader, limit int) *builder {
		d := &document{builder: newBuilder(format), pages: pages}
		make(d)
		object := members{}
		for key, take := range d.record {
			object[key] = take
		}
		for _, key := range pages {
			object[key] = d.page
		}
		newStream(in, limit, oneOf(append(keys, pages...)...)).each(d.log, func(record []byte) bool {
			d.c, d.paged = cursor{data: record}, false
			d.c.members(object)
			if d.c.done() && !d.paged {
				d.take()
			}
			return d.c.done()
		})
		if d.end != nil {
			d.end()
		}
		return d.builder
	})
}

// page reads the records in an array or an object. The object contains a page, or has records by name.
func (d *document) page() {
	d.paged = true
	if d.begin != nil {
		d.begin()
	}
	one := func() {
		d.c.members(d.record)
		d.take()
	}
	if d.c.space() != '{' {
		d.c.elements(one)
		return
	}
	d.c.fields(func(key []byte) {
		if oneOf(d.pages...)(key) {
			d.page()
		} else if d.c.space() == '{' {
			one()
		}
	})
}

// text, name, moment, index, bytes and inside return functions that read a value of their type.
func (d *document) text(to *[]byte) func() { return func() { *to = d.c.name() } }

func (d *document) moment(to *Opt) func() { return func() { *to = d.c.moment(&d.log.Faults) } }

func (d *document) index(to *int32) func() { return func() { *to = d.c.index() } }

func (d *document) bytes(to *Opt) func() { return func() { *to = d.c.bytes() } }

func (d *document) add(to *Opt) func() { return func() { *to = to.plus(d.c.bytes()) } }

func (d *document) inside(m members) func() { return func() { d.c.members(m) } }
