// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"slices"
	"strings"
	"unicode"
)

// meaning is what a name says about its value.
type meaning int

const (
	namesNothing meaning = iota
	// namesKey is a name of secrets and of other things: "key" may be the key of a map.
	namesKey
	namesSecret
	namesPlain
)

// meaningOf judges a name by its words. The last word matters most: a token's type is not
// a token, and the name of a key is not a key.
func meaningOf(name string) meaning {
	words := wordsOf(name)
	if len(words) == 0 {
		return namesNothing
	}
	last := words[len(words)-1]
	has := func(list string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return isOneOf(word, list) })
	}
	switch {
	case len(words) > 1 && words[len(words)-2] == "secret" && last == "id":
		return namesNothing // a password in Vault, a name elsewhere
	case isOneOf(last, plainWords), words[0] == "existing", len(words) > 1 && words[len(words)-2] == "password" && last == "key", has(" pull ") && strings.HasPrefix(last, "secret"):
		return namesPlain
	case slices.ContainsFunc(words, isSecretWord):
		return namesSecret
	case has(keyWords):
		if has(" primary ") {
			return namesNothing // the key of an Azure account, or of a table
		}
		if has(plainKeys) {
			return namesPlain
		}
		if len(words) > 1 && last != "keys" {
			return namesSecret // apiKey, client-key-data
		}
		return namesKey
	case isOneOf(last, quietWords), isOneOf(strings.TrimSuffix(last, "s"), quietWords):
		return namesPlain
	}
	return namesNothing
}

// isSecretName reports whether a name, such as that of a query parameter, is the name of a
// secret.
func isSecretName(name string) bool {
	means := meaningOf(name)
	return means == namesSecret || means == namesKey
}

// isNaming reports whether a field holds the name of the value in another field, as name
// does in {name, value}.
func isNaming(field string) bool {
	words := wordsOf(field)
	return len(words) > 0 && isOneOf(words[len(words)-1], " name key variable parameter header property option setting ")
}

// isValueName reports whether a field holds the value in such a pair.
func isValueName(field string) bool {
	words := wordsOf(field)
	return len(words) > 0 && isOneOf(words[len(words)-1], " value val content default ")
}

// isSecretWord also recognizes compounds of common words, such as dbpassword.
func isSecretWord(word string) bool {
	one := strings.TrimSuffix(word, "s")
	return isOneOf(word, secretWords) || isOneOf(one, secretWords) || endsInOne(one, secretEnds) || strings.HasPrefix(word, "passphrase") ||
		strings.HasSuffix(word, "pass") && !isOneOf(word, otherPasses)
}

const (
	secretWords = " pwd pw pin psk otp totp jwt sas bearer cred credential sig signature mnemonic "
	secretEnds  = " password passwd passcode secret token masterauth apikey secretkey accesskey privatekey accountkey sharedkey signingkey " +
		"encryptionkey masterkey sshkey "
	otherPasses = " compass bypass encompass surpass trespass overpass underpass "
)

// isOneOf reports whether a word is in a list of words, each with a blank on either side.
func isOneOf(word, list string) bool { return strings.Contains(list, " "+word+" ") }

func endsInOne(word, list string) bool {
	for end := range strings.FieldsSeq(list) {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	return false
}

const keyWords = " key keys auth authorization "

// plainKeys are the words that make a key no secret: keys of databases, maps and public
// keys.
const plainKeys = " public pub sort hash range partition foreign topology cache group "

// plainWords end names whose values are never secret, even when they belong to a secret.
const plainWords = " address age algorithm audience backend bits cluster count days domain duration email enabled endpoint engine expiration expires " +
	"expiry file format host hostname hours id ids interval issuer kind length lifetime limit minutes mount name namespace path policy " +
	"port prefix project provider ref refs reference region rotation seconds selector size store suffix template timeout ttl type uri " +
	"url user username version zone "

// quietWords end names of other settings that appear in errors and sometimes look random.
const quietWords = " account ami annotation arn branch bucket checksum cidr class commit date device digest disk image instance ip label " +
	"license machine network node package partition principal profile proxy queue registry release replica repo repository resource revision role " +
	"route schedule server service sha shard sku snapshot stack subject subnet subscription table tag target tenant time timestamp timezone topic tz " +
	"vm volume vpc workspace "

// wordsOf splits a name at capitals and at all characters that are not letters.
func wordsOf(name string) []string {
	var words []string
	var word strings.Builder
	runes := []rune(name)
	for n, r := range runes {
		upper := unicode.IsUpper(r)
		begins := upper && n > 0 && (unicode.IsLower(runes[n-1]) || n+1 < len(runes) && unicode.IsLower(runes[n+1]))
		if word.Len() > 0 && (begins || !unicode.IsLetter(r)) {
			words = append(words, word.String())
			word.Reset()
		}
		if unicode.IsLetter(r) {
			word.WriteRune(unicode.ToLower(r))
		}
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}
