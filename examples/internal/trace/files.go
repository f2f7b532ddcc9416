package trace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source is the place of a log: a file, or several files of a directory that are the log of one application.
type Source struct {
	Path  string // path of the file or of the directory
	parts []part // the files of a log in several files
}

// maxNesting is the largest depth of directories in which Find searches.
const maxNesting = 8

// Find returns the logs at a path: the file, or all files in the directory and its subdirectories, by name. The files
// of a log that Spark or Databricks has rolled are one log. Hidden files are ignored. leftOut has a line for each
// entry that is not a regular file, such as a pipe or a link to a directory.
func Find(path string) (sources []Source, leftOut []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		return []Source{{Path: path}}, nil, nil
	}
	f := finder{}
	if err := f.directory(path, 0); err != nil {
		return nil, nil, err
	}
	return f.sources, f.leftOut, nil
}

// Open reads the log at a path: a file, or a directory with one log.
func Open(path string) (*Log, error) {
	sources, _, err := Find(path)
	if err != nil {
		return nil, err
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("%s: the directory has no logs", Printable(path))
	}
	if len(sources) > 1 {
		return nil, fmt.Errorf("%s: the directory has %d logs, want one", Printable(path), len(sources))
	}
	return sources[0].Read()
}

// Read reads the log. If some files of a log in several files cannot be read, they are counted as faults.
func (s Source) Read() (*Log, error) {
	if s.parts != nil {
		return readParts(s.Path, s.parts)
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, s.Path)
}

// Format returns the format of the log, which it recognises from the beginning.
func (s Source) Format() (Format, error) {
	if s.parts != nil {
		return Spark, nil
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in, err := newInput(f)
	defer in.close()
	if err != nil {
		return 0, err
	}
	r, err := in.format()
	return r.format, err
}

type finder struct {
	sources []Source
	leftOut []string
}

func (f *finder) leave(path, why string) {
	f.leftOut = append(f.leftOut, Printable(path)+": "+why)
}

func (f *finder) directory(dir string, depth int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	names := f.filesOf(dir, entries)
	if parts := partsOf(names); parts != nil {
		f.sources = append(f.sources, Source{dir, parts})
		names = slices.DeleteFunc(names, isPart)
	}
	for _, name := range names {
		f.sources = append(f.sources, Source{Path: filepath.Join(dir, name)})
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if depth == maxNesting {
			f.leave(path, "not looked into: too deep")
		} else if err := f.directory(path, depth+1); err != nil {
			f.leave(path, "not looked into: "+Printable(err.Error()))
		}
	}
	return nil
}

// filesOf picks the regular files, also behind a link.
func (f *finder) filesOf(dir string, entries []fs.DirEntry) (names []string) {
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
			f.leave(path, "a link to nowhere")
		case !info.Mode().IsRegular():
			f.leave(path, "no regular file")
		default:
			names = append(names, e.Name())
		}
	}
	return names
}
