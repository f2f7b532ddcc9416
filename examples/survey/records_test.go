package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const figureLines = `list,world,progress,set,seeds,noise,policy,time,slots,late,each,high,first
small,a,none,work,2,1,default,90,100,0,91,95,3
small,a,none,work,2,1,naive,88,100,0,89,93,4
first,b,linear,work,2,1,default,70,121,0,70,70,3
first,b,linear,work,2,1,naive,60,122,0,60,60,0
first,c,none,work,2,1,default,50,80,0,50,50,3
first,c,none,work,2,1,naive,55,80,0,55,55,0
`

func figureFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "figures.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Two files are compared cell by cell, and the policies of the earlier file alone are rivals in the later one.
func TestCompareFiles(t *testing.T) {
	later := strings.NewReplacer("default,90,100", "default,94.5,100", "default,70,121", "default,65,119").Replace(figureLines)
	lines := strings.SplitAfter(later, "\n")
	later = lines[0] + lines[1] + lines[3] + lines[5] // the default alone
	var b bytes.Buffer
	require.NoError(t, run([]string{"-compare", figureFile(t, figureLines), figureFile(t, later)}, &b))
	text := b.String()
	assert.Contains(t, text, "3 in both; set, seeds, noise: work 2 1\n")
	// The default's regret in a is 2 points, and 6.5 later; in b and c the naive rule is no better bargain.
	assert.Contains(t, text, "| small | 1 | 90.00/94.50 (+4.50) | 100.00/100.00 (+0.00) | 0/0 (+0) | 0.00/0.00 (+0.00) | "+
		"0.00/0.00 (+0.00) | 2.00/6.50 (+4.50) | 0/0 (+0) |\n")
	assert.Contains(t, text, "| all | 3 | 70.00/69.83 (-0.17) | 100.33/99.67 (-0.67) | 1/1 (+0) | 0.00/0.00 (+0.00) | "+
		"21.00/19.00 (-2.00) | 0.67/2.17 (+1.50) | 1/0 (-1) |")
	assert.Contains(t, text, "| all, silent | 2 | 70.00/72.25 (+2.25) |")
	assert.Contains(t, text, "1 cells are slower by over 1 points, and 1 are faster.")
	assert.True(t, strings.HasSuffix(text, "\n| 4.5 | +0.0 | small | a none | 90.0/100.0 | 94.5/100.0 |\n"))
}

func TestCompareFilesThatDoNotFit(t *testing.T) {
	good := figureFile(t, figureLines)
	for want, change := range map[string][2]string{
		`has the set, the seeds and the noise`:     {"work", "proof"},
		`line 2: time is "fast", want a number`:    {"default,90", "default,fast"},
		`line 2: progress: "loud" is none of`:      {"a,none", "a,loud"},
		`line 3: the set, the seeds and the noise`: {"work,2,1,naive,88", "work,3,1,naive,88"},
		`line 6: the policy is naive, want those`:  {"default,50", "naive,50"},
		`has no line for the default`:              {"default,", "late,"},
		`want a file of -worlds -csv`:              {"list,world", "world,list"},
		`lacks policies of the first cell`:         {figureLines[strings.LastIndex(strings.TrimSpace(figureLines), "\n")+1:], ""},
		`have no cell in common`:                   {figureLines[strings.Index(figureLines, "\n")+1:], "first,d,none,work,2,1,default,1,1,1,1,1,1\n"},
	} {
		n := -1
		if strings.Contains(want, "line 3") {
			n = 1
		}
		bad := figureFile(t, strings.Replace(figureLines, change[0], change[1], n))
		assert.ErrorContains(t, run([]string{"-compare", good, bad}, io.Discard), want)
	}
	assert.ErrorContains(t, run([]string{"-compare", good}, io.Discard), "-compare reads two files, but the command line has 1")
	assert.ErrorContains(t, run([]string{"-csv", good}, io.Discard), "-csv and -table need -worlds")
	assert.Error(t, run([]string{"-compare", good, "nowhere.csv"}, io.Discard))
}

// The figures that a survey writes are the figures that -compare reads: a file differs from itself nowhere.
func TestFiguresComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures.csv")
	args := []string{"-worlds", "-seeds", "2", "-list", "small,long", "-cells", "^four workers, one 5x slow |5 %.*8w, long none", "-policies",
		"default,naive"}
	var table, b bytes.Buffer
	require.NoError(t, run(append(args, "-csv", path), &table))
	require.NoError(t, run([]string{"-compare", path, path}, &b))
	assert.Contains(t, b.String(), "\n| small | 2 | ")
	assert.Contains(t, b.String(), "\n| long, silent | 2 | ")
	assert.Contains(t, b.String(), "\n| all | 4 | ")
	assert.Contains(t, b.String(), "0 cells are slower by over 1 points")
	assert.Contains(t, table.String(), "\n| silent | cells | mean |")
}
