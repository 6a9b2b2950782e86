// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"testing"

	. "github.com/onsi/gomega"
)

// Files that people store in Secrets, and what a provider prints after reading them.
func TestThePasswordsInFilesAreMasked(t *testing.T) {
	login := base64.StdEncoding.EncodeToString([]byte("bob:zq-Pw77"))
	for name, test := range map[string]struct {
		file string
		// secret must be masked on its own, and shown must not.
		secret, shown []string
	}{
		"Redis of Azure": {
			"cache.redis.example.com:6380,password=zq-Pw77/ab=,ssl=True,abortConnect=False",
			[]string{"zq-Pw77/ab="}, []string{"cache.redis.example.com", "6380", "True", "False"},
		},
		"SQL Server": {
			"Server=tcp:db.example.com,1433;Initial Catalog=orders;User ID=bob;Password=zq&Pw77;Encrypt=True;Connection Timeout=30;",
			[]string{"zq&Pw77"}, []string{"tcp:db.example.com", "orders", "bob", "30"},
		},
		"an inline table of TOML":        {`db = { host = "one", password = 'zq-Pw77', user = "administrator" }`, []string{"zq-Pw77"}, []string{"administrator"}},
		"quoted keys of TOML":            {"[db]\n\"password\" = \"zq-Pw77\"\n'api.key' = 'zq-Key88'\n", []string{"zq-Pw77", "zq-Key88"}, []string{"[db]", "password"}},
		"many lines of TOML":             {"password = \"\"\"\nzq-Pw77\nzq-Pw88\"\"\"\nname = \"app\"\n", []string{"zq-Pw77", "zq-Pw88"}, []string{"app"}},
		"escapes in dotenv":              {`PASSWORD="zq\"Pw\\77\$"` + "\nREGION=middle-earth\n", []string{`zq"Pw\77$`, `zq\"Pw\\77\$`}, []string{"middle-earth"}},
		"many lines in dotenv":           {"NAME=app\nexport TLS_KEY=\"zq-line-one\nzq-line-two\"\nHOST=db\n", []string{"zq-line-one", "zq-line-two"}, []string{"app", "db"}},
		"comments in dotenv":             {"PASSWORD=zq-Pw77 # the old one\nTOKEN = 'zq-Tok88' # and this\n", []string{"zq-Pw77", "zq-Tok88"}, nil},
		"a shell":                        {"set -x; export DB_PASSWORD=zq-Pw77; curl -H 'Authorization: Bearer zq-Tok88' https://x\n", []string{"zq-Pw77", "zq-Tok88"}, []string{"curl", "https://x"}},
		"properties":                     {"# db\ndb.user: administrator\ndb.password: zq-Pw77\ndb.secret zq-Sec88\nkey.password=zq\\=Pw\\:99\n", []string{"zq-Pw77", "zq-Sec88", "zq=Pw:99", `zq\=Pw\:99`}, []string{"administrator", "db"}},
		"INI":                            {"[default]\nregion = eu-central-1\n[client]\nuser=root\npassword:zq-Pw77\n; old\npasswd = \"zq-Pw88\"\n", []string{"zq-Pw77", "zq-Pw88"}, []string{"[default]", "eu-central-1", "[client]", "root"}},
		"Redis":                          {"bind 0.0.0.0\nrequirepass zq-Pw77\nmasterauth zq-Pw88\n", []string{"zq-Pw77", "zq-Pw88"}, []string{"0.0.0.0", "bind"}},
		"netrc in a line":                {"machine git.example.com login bob password zq-Pw77\n", []string{"zq-Pw77"}, []string{"git.example.com", "bob"}},
		"netrc in lines":                 {"machine git.example.com\n  login bob\n  password zq-Pw77\ndefault login anonymous password list\n", []string{"zq-Pw77"}, []string{"git.example.com", "anonymous", "machine"}},
		"pgpass":                         {"# hosts\ndb.example.com:5432:orders:bob:zqK7x9Pw3\n*:*:*:eve:Q8w2e4R6t\n", []string{"zqK7x9Pw3", "Q8w2e4R6t"}, []string{"db.example.com", "5432", "orders", "bob"}},
		"MySQL of Go":                    {"bob:zq-Pw77@tcp(db.example.com:3306)/orders?parseTime=true", []string{"zq-Pw77"}, []string{"bob", "db.example.com", "orders"}},
		"a socket of MySQL":              {"bob:zq@Pw77@unix(/var/run/mysqld.sock)/orders", []string{"zq@Pw77"}, []string{"bob", "orders"}},
		"URLs in a list":                 {"amqp://bob:zq-Pw77@one:5672,amqp://eve:zq-Pw88@two:5672", []string{"zq-Pw77", "zq-Pw88"}, []string{"bob", "one", "5672"}},
		"URLs in quotes":                 {`connect("redis://:zq-Pw77@one:6379/0", 'https://x/?token=zq-Tok88')`, []string{"zq-Pw77", "zq-Tok88"}, []string{"connect"}},
		"a form":                         {"grant_type=client_credentials&client_id=app&client_secret=zq%2BSec77&scope=all", []string{"zq%2BSec77", "zq+Sec77"}, []string{"client_credentials", "app"}},
		"a header in JSON":               {`{"headers":{"Authorization":"Bearer zq-Tok77","Accept":"text/html"}}`, []string{"zq-Tok77", "Bearer zq-Tok77"}, []string{"Bearer", "text/html"}},
		"a login in a header":            {`{"headers":{"Authorization":"Basic ` + login + `"}}`, []string{login, "zq-Pw77"}, []string{"Basic", "bob"}},
		"a header of GitHub":             {"Authorization: token zq-Tok77\nAccept: text/html\n", []string{"zq-Tok77"}, []string{"token", "text/html"}},
		"headers in a list":              {`[{"name":"Authorization","value":"Bearer zq-Tok77"},{"name":"X-Team","value":"payment"}]`, []string{"zq-Tok77"}, []string{"payment"}},
		"AppRole of Vault":               {`{"role_id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","secret_id":"3f2504e0-4f89-11d3-9a0c-0305e82c3301"}`, []string{"3f2504e0-4f89-11d3-9a0c-0305e82c3301"}, []string{"6ba7b810-9dad-11d1-80b4-00c04fd430c8"}},
		"AppRole of Vault in camel case": {`{"roleId":"x","secretId":"3f2504e0-4f89-11d3-9a0c-0305e82c3301"}`, []string{"3f2504e0-4f89-11d3-9a0c-0305e82c3301"}, nil},
		"variables of ECS":               {`[{"Name":"DB_PASSWORD","Value":"correcthorse"},{"Name":"DB_HOST","Value":"zq-host"}]`, []string{"correcthorse"}, []string{"zq-host"}},
		"variables of GitLab":            {`[{"key":"API_TOKEN","value":"correcthorse","masked":true},{"key":"STAGE","value":"production"}]`, []string{"correcthorse"}, []string{"production", "STAGE"}},
		"CloudFormation":                 {`[{"ParameterKey":"MasterUserPassword","ParameterValue":"correcthorse"}]`, []string{"correcthorse"}, []string{"MasterUserPassword"}},
		"variables of HCL":               {"env = [\n  { name = \"DB_PASSWORD\", value = \"correcthorse\" },\n  { name = \"STAGE\", value = \"production\" },\n]\n", []string{"correcthorse"}, []string{"production", "STAGE"}},
		"tfvars":                         {"region = \"eu-central-1\"\ndb_password = \"zq-Pw77\"\nca_key = <<EOT\nzq-line-one\nzq-line-two\nEOT\ntags = {\n  team = \"payment\"\n}\n", []string{"zq-Pw77", "zq-line-one", "zq-line-two"}, []string{"eu-central-1", "payment", "tags = {"}},
		"JSON after a byte order mark":   {"\ufeff{\"password\":\"correcthorse\"}", []string{"correcthorse"}, []string{"password"}},
		"JSON with comments":             {"{\n  // for the database\n  \"password\": \"correcthorse\", /* x */\n  \"stage\": \"production\",\n}", []string{"correcthorse"}, []string{"production"}},
		"JavaScript":                     {"module.exports = { password: 'correcthorse', stage: `production` };", []string{"correcthorse"}, []string{"production"}},
		"Python":                         {"DATABASES = {'default': {'PASSWORD': 'correcthorse', 'HOST': 'zq-host'}}\nconfig['token'] = 'zq-Tok77'\n", []string{"correcthorse", "zq-Tok77"}, []string{"zq-host", "default"}},
		"PHP":                            {"<?php return ['password' => 'correcthorse', 'stage' => 'production'];", []string{"correcthorse"}, []string{"production"}},
		"YAML":                           {"password: |\n  zq-line-one\n  zq-line-two\ntoken: >-\n  zq-Tok77\nstage: production\n", []string{"zq-line-one", "zq-line-two", "zq-Tok77"}, []string{"production"}},
		"a template of YAML":             {"stage: {{ .Stage }}\npassword: |-\n  zq-line-one\n  zq-line-two\ntoken: zq-Tok77\n", []string{"zq-line-one", "zq-line-two", "zq-Tok77"}, []string{"Stage"}},
		"YAML with dotenv in it":         {"data:\n  app.env: |\n    STAGE=production\n    DB_PASSWORD=zq-Pw77\n", []string{"zq-Pw77"}, []string{"production"}},
		"XML of Maven":                   {"<?xml version=\"1.0\"?>\n<settings><servers><server><id>central</id><username>bob</username><password>zq&amp;Pw77</password></server></servers></settings>", []string{"zq&Pw77"}, []string{"central", "bob", "1.0"}},
		"XML of .NET":                    {`<configuration><appSettings><add key="ApiKey" value="zq-Key77"/><add key="Stage" value="production"/></appSettings><connectionStrings><add name="db" connectionString="Server=x;Password=zq-Pw88"/></connectionStrings></configuration>`, []string{"zq-Key77", "zq-Pw88"}, []string{"production"}},
		"XML of NuGet":                   {"\ufeff<configuration><packageSourceCredentials><feed><add key=\"Username\" value=\"bob\" /><add key=\"ClearTextPassword\" value=\"zq-Pw77\" /></feed></packageSourceCredentials></configuration>", []string{"zq-Pw77"}, []string{"bob"}},
		"a property list":                {"<plist><dict><key>Password</key><string>zqK7x9Pw3</string><key>Stage</key><string>production</string></dict></plist>", []string{"zqK7x9Pw3"}, []string{"production", "Stage"}},
		"XML with a missing end tag":     {"<config><password>zq-Pw77</password><stage>production</config>", []string{"zq-Pw77"}, []string{"production"}},
		"the login for a registry":       {`{"auths":{"ghcr.io":{"auth":"` + login + `"}},"credsStore":"desktop"}`, []string{login, "bob:zq-Pw77", "zq-Pw77"}, []string{"ghcr.io", "bob", "desktop"}},
		"the login for a registry, without padding": {`{"auths":{"ghcr.io":{"auth":"` + base64.RawStdEncoding.EncodeToString([]byte("bob:zq-Pw7")) + `"}}}`, []string{"zq-Pw7"}, []string{"bob"}},
		"npm":                      {"//localhost:4873/:_authToken=zq-Tok77\n//localhost:4873/:_auth=" + login + "\nregistry=https://localhost:4873/\n", []string{"zq-Tok77", login, "zq-Pw77"}, []string{"localhost", "4873", "bob"}},
		"a list of TOML":           {"tokens = [\"zq-Tok77\", \"zqK7x9Pw3\"]\nstages = [\"production\"]\n", []string{"zq-Tok77", "zqK7x9Pw3"}, []string{"production"}},
		"an object of HCL":         {"secrets = {\n  db   = \"zqK7x9Pw3\"\n  \"mq\" = \"Q8w2e4R6t\"\n}\nstage = \"production\"\n", []string{"zqK7x9Pw3", "Q8w2e4R6t"}, []string{"production"}},
		"keys from a console":      {"\ufeffUser name,Password,Access key ID,Secret access key\r\nbob,zqK7x9Pw3,AKIAIOSFODNN7EXAMPLE,zqK7ey88x1/x\r\n", []string{"zqK7x9Pw3", "zqK7ey88x1/x"}, []string{"bob"}},
		"options of a command":     {"login --username administrator --password zq-Pw77 --token='zq-Tok88' --server db", []string{"zq-Pw77", "zq-Tok88"}, []string{"administrator", "db"}},
		"arguments of a container": {`{"args":["--user","administrator","--password","zq-Pw77","--token=zq-Tok88"]}`, []string{"zq-Pw77", "zq-Tok88"}, []string{"administrator"}},
		"curl":                     {"curl -u bob:zqK7x9Pw3 https://example.com", []string{"zqK7x9Pw3"}, []string{"bob", "example.com"}},
		"Kafka":                    {"sasl.jaas.config=org.apache.kafka.PlainLoginModule required username=\"bob\" password=\"zq-Pw77\";\n", []string{"zq-Pw77"}, []string{"bob", "org.apache.kafka.PlainLoginModule"}},
		"SQL":                      {"CREATE USER bob WITH PASSWORD 'zq''Pw77'; ALTER USER eve IDENTIFIED BY 'zqK7x9Pw3';", []string{"zq'Pw77", "zqK7x9Pw3"}, []string{"bob", "eve"}},
		"a section of INI":         {"[app]\nstage = production\n[app.secrets]\nqueue_login = zqK7x9Pw3\n[more]\nstage = production\n", []string{"zqK7x9Pw3"}, []string{"production"}},
		"a Dockerfile":             {"ENV DB_PASSWORD zq-Pw77\nENV STAGE production\n", []string{"zq-Pw77"}, []string{"production"}},
		"htpasswd":                 {"bob:$2y$05$8Jx2mQ0vKZr5yT1wE7uHhO\neve:$apr1$zq$w3Qx7Lk2Vb9\n", []string{"$2y$05$8Jx2mQ0vKZr5yT1wE7uHhO", "$apr1$zq$w3Qx7Lk2Vb9"}, []string{"bob", "eve"}},
		"user and password":        {"bob:Zq-Passw0rd", []string{"Zq-Passw0rd"}, []string{"bob"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := New([]string{test.file})
			for _, secret := range test.secret {
				NewWithT(t).Expect(m.Apply("login as <"+secret+"> failed")).To(Equal("login as <***> failed"), secret)
			}
			for _, shown := range test.shown {
				NewWithT(t).Expect(m.Apply("in <"+shown+"> it failed")).To(Equal("in <"+shown+"> it failed"), shown)
			}
			NewWithT(t).Expect(m.Apply("the file <" + test.file + ">")).To(HavePrefix("the file <***"))
		})
	}
}
