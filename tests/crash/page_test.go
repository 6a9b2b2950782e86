// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// The page of flux pulumi ui says that the API server is away, and shows what has changed once it is back, without being
// opened again.
func TestThePageOutlivesTheAPIServer(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, startAlone(t), "page")
	u.create(ctx, quick(1, "one"), nil)
	u.awaitCurrent(ctx)
	p := u.openPage(t)
	row := func() shownRow { return p.row(u.name) }
	u.Eventually(row).Should(HaveField("Ready", "True"))
	u.Expect(p.link()).To(Equal(shownLink{Connected: true}))

	u.stopAPIServer()
	u.Eventually(p.link).Should(And(HaveField("Connected", false), HaveField("Message", Not(BeEmpty()))))
	u.Expect(row()).To(HaveField("Ready", "True"), "what was known is still shown")
	code, text := p.do(http.MethodPost, "/api/stacks/"+u.s.RuntimeNamespace()+"/"+u.name+"/suspend")
	u.Expect(code).To(Equal(http.StatusBadGateway), text)
	u.Expect(text).To(ContainSubstring("connection refused"))

	u.Expect(u.s.ControlPlane.StartAPIServer(ctx)).To(Succeed())
	u.Eventually(p.link).Should(Equal(shownLink{Connected: true}))
	u.Expect(row().Suspended).To(BeFalse(), "the action that failed is not done later")
	code, text = p.do(http.MethodPost, "/api/stacks/"+u.s.RuntimeNamespace()+"/"+u.name+"/suspend")
	u.Expect(code).To(Equal(http.StatusOK), text)
	u.Eventually(row).Should(HaveField("Suspended", true))
}

// shownPage is the page of the real command as a browser has it: a stream that stays open, and requests.
type shownPage struct {
	u       *subject
	address string
	client  *http.Client

	mu   sync.Mutex
	last shownLink
	rows map[string]shownRow
}

type shownLink struct {
	Connected bool   `json:"connected"`
	Message   string `json:"message"`
}

type shownRow struct {
	Name      string `json:"name"`
	Ready     string `json:"ready"`
	Suspended bool   `json:"suspended"`
}

func (p *shownPage) link() shownLink {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *shownPage) row(name string) shownRow {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rows[name]
}

var printedAddress = regexp.MustCompile(`(http://127\.0\.0\.1:\d+)(/\?token=[0-9a-f]+)`)

// openPage starts the command, enters with the printed address, and keeps the stream of all Stacks open until the test ends.
func (u *subject) openPage(t *testing.T) *shownPage {
	program, err := process.FindBin("flux-pulumi")
	u.Expect(err).NotTo(HaveOccurred())
	log := u.s.Path("page.log")
	command, err := process.Start(context.Background(), process.Spec{
		Name: "flux pulumi ui", Path: program, Log: log, Env: []string{"HOME=" + u.s.Path()},
		Args: []string{"ui", "--no-open", "--kubeconfig", u.s.ControlPlane.KubeconfigPath()},
	})
	u.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { u.Expect(command.Stop()).To(Succeed()) })
	var printed []string
	u.Eventually(func(g Gomega) {
		text, err := os.ReadFile(log)
		g.Expect(err).NotTo(HaveOccurred())
		printed = printedAddress.FindStringSubmatch(string(text))
		g.Expect(printed).NotTo(BeNil())
	}).Should(Succeed(), command.LogTail)

	jar, err := cookiejar.New(nil)
	u.Expect(err).NotTo(HaveOccurred())
	p := &shownPage{u: u, address: printed[1], client: &http.Client{Jar: jar}, rows: map[string]shownRow{}}
	code, text := p.do(http.MethodGet, printed[2])
	u.Expect(code).To(Equal(http.StatusOK), text)

	ctx, end := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address+"/api/stacks", nil)
	u.Expect(err).NotTo(HaveOccurred())
	response, err := p.client.Do(request)
	u.Expect(err).NotTo(HaveOccurred())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.read(response.Body)
	}()
	t.Cleanup(func() {
		end()
		<-ended
		_ = response.Body.Close()
	})
	return p
}

// read reads the events of the stream until it ends.
func (p *shownPage) read(stream io.Reader) {
	lines, event := bufio.NewReader(stream), ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if name, found := strings.CutPrefix(line, "event: "); found {
			event = strings.TrimSpace(name)
		}
		if data, found := strings.CutPrefix(line, "data: "); found {
			p.note(event, []byte(data))
		}
	}
}

func (p *shownPage) note(event string, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch event {
	case "status":
		p.last = shownLink{}
		_ = json.Unmarshal(data, &p.last) // the test sees what is missing
	case "stacks":
		var changed struct {
			Upserts []shownRow `json:"upserts"`
		}
		_ = json.Unmarshal(data, &changed)
		for _, row := range changed.Upserts {
			p.rows[row.Name] = row
		}
	}
}

// do sends a request as the page does, and returns the code and the text of the answer.
func (p *shownPage) do(method, path string) (int, string) {
	request, err := http.NewRequestWithContext(context.Background(), method, p.address+path, strings.NewReader("{}"))
	p.u.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Origin", p.address)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Flux-Pulumi", "1")
	response, err := p.client.Do(request)
	p.u.Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	p.u.Expect(err).NotTo(HaveOccurred())
	return response.StatusCode, string(text)
}
