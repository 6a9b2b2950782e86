// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits for what it expects to see. The page shows a change within a second.
const patience = 10 * time.Second

// tab is a page in the browser, and what it has complained of.
type tab struct {
	t   *testing.T
	ctx context.Context
	// wait is how long it waits for what it expects to see.
	wait time.Duration
}

// size of a window, and its theme.
type look struct {
	name          string
	width, height int64
	theme         string
}

func looks() []look {
	return []look{
		{"wide-light", 1440, 900, "light"},
		{"wide-dark", 1440, 900, "dark"},
		{"phone-light", 390, 844, "light"},
		{"phone-dark", 390, 844, "dark"},
	}
}

// newTab starts Chromium, and fails the test at its end if the page has thrown an error or broken its own policy.
func newTab(t *testing.T, l look) *tab {
	t.Helper()
	program := needsChromium(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(int(l.width), int(l.height)), chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			cmd.Dir = filepath.Dir(program) // where its cache of fonts is
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		}))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // which waits for the end of the browser
			t.Logf("end Chromium: %s", err)
		}
		cancel()
	})
	p := &tab{t: t, ctx: ctx, wait: patience}
	p.listen()
	p.do(log.Enable())
	p.appear(l)
	return p
}

// needsChromium returns the program, and skips the test where there is none.
func needsChromium(t *testing.T) string {
	t.Helper()
	program, err := filepath.Abs("../../bin/chromium/chromium")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("there is no Chromium: make bin/chromium unpacks it where there is a way to Debian's archive")
	}
	return program
}

// appear gives the window another size, and the theme.
func (p *tab) appear(l look) {
	p.t.Helper()
	p.do(emulation.SetDeviceMetricsOverride(l.width, l.height, 1, l.width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: l.theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}))
}

func (p *tab) listen() {
	chromedp.ListenTarget(p.ctx, func(event any) {
		switch event := event.(type) {
		case *runtime.EventExceptionThrown:
			p.t.Errorf("the page has thrown: %s", event.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if event.Entry.Source == log.SourceSecurity || strings.Contains(event.Entry.Text, "Content Security Policy") {
				p.t.Errorf("the page breaks its policy: %s", event.Entry.Text)
			}
		}
	})
}

func (p *tab) do(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, p.wait)
	defer cancel()
	// The first call starts the browser, which must not end with the time of that call.
	if chromedp.FromContext(p.ctx).Browser == nil {
		if err := chromedp.Run(p.ctx); err != nil {
			p.t.Fatalf("start Chromium: %s", err)
		}
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.t.Fatalf("%s\non the page:\n%s", err, p.text("body"))
	}
}

// text returns what can be read in the first element of a selector, "" if there is none.
func (p *tab) text(selector string) string {
	var text string
	ctx, cancel := context.WithTimeout(p.ctx, p.wait)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Evaluate(`(document.querySelector(`+quoted(selector)+`) || {innerText: ""}).innerText`, &text))
	return text
}

// sees waits until the expression of JavaScript is true.
func (p *tab) sees(what, expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, p.wait)
	defer cancel()
	err := chromedp.Run(ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(0)))
	for ctx.Err() == nil && isOfAnotherPage(err) {
		err = chromedp.Run(ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(0)))
	}
	if err != nil {
		p.t.Fatalf("not seen: %s (%s)\non the page:\n%s", what, err, p.text("body"))
	}
}

// isOfAnotherPage reports whether the page in which something was to be seen is gone: the printed address leads to another one.
func isOfAnotherPage(err error) bool {
	return err != nil && slices.ContainsFunc([]string{"Cannot find context", "Execution context was destroyed", "Inspected target navigated or closed"},
		func(text string) bool { return strings.Contains(err.Error(), text) })
}

// reads waits until the text can be read in the element.
func (p *tab) reads(selector, text string) {
	p.t.Helper()
	p.sees(text+" in "+selector, `[...document.querySelectorAll(`+quoted(selector)+`)].some((e) => (e.innerText ?? e.textContent).includes(`+quoted(text)+`))`)
}

// click clicks on the element that has exactly this text.
func (p *tab) click(selector, text string) {
	p.t.Helper()
	find := `[...document.querySelectorAll(` + quoted(selector) + `)].find((e) => e.innerText.trim() === ` + quoted(text) + ` && !e.disabled)`
	p.sees(text+" to click on", find+` !== undefined`)
	p.do(chromedp.Evaluate(find+`.click()`, nil))
}

func (p *tab) open(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate(url))
}

// fill types a text into a field.
func (p *tab) fill(selector, text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(selector, text))
}

// picture writes what is on the screen below SCREENSHOTS, if that is set.
func (p *tab) picture(name string) {
	p.t.Helper()
	if directory := os.Getenv("SCREENSHOTS"); directory != "" {
		p.save(filepath.Join(directory, name+".png"))
	}
}

// save writes what is on the screen into a file.
func (p *tab) save(path string) {
	p.t.Helper()
	var png []byte
	p.do(chromedp.CaptureScreenshot(&png))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, png, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
