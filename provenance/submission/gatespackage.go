package submission

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/internal/msg"
)

func packageGates() []gate {
	return []gate{
		{"P01", Rule, rolePackage, msg.Text{"the package says what it is, and every part of it was checked", "提交包声明了内容，且各部分均已检查"}, gateP01},
		{"P02", Risk, rolePackage, msg.Text{"the file is called TEAM_submission.zip", "文件名为“队名_submission.zip”"}, gateP02},
		{"P03", Rule, rolePackage, msg.Text{"the package unpacks safely everywhere", "提交包可在各系统上安全解压"}, gateP03},
		{"P04", Rule, rolePackage, msg.Text{"file names are UTF-8", "文件名为 UTF-8"}, gateP04},
		{"P05", Rule, rolePackage, msg.Text{"text files are UTF-8", "文本文件为 UTF-8"}, gateP05},
		{"P06", Rule, rolePackage, msg.Text{"the manifest lists every file with its hash", "清单列出全部文件及其哈希"}, gateP06},
		{"P07", Rule, rolePackage, msg.Text{"no keys, home folders or leftovers", "不含密钥、个人目录或残留文件"}, gateP07},
	}
}

// gateP01 runs after all others: a package in which nothing was checked must
// not pass.
func gateP01(c *check) error {
	if c.bundle.broken || len(c.bundle.entries) == 0 {
		c.fails(at("", 0), msg.Text{"nothing could be read, so nothing was checked", "无法读取任何内容，因此未做任何检查"})
		return nil
	}
	if _, ok := c.bundle.find(declarationName); !ok {
		c.fails(at(declarationName, 0).fix(msg.Text{"drydock submit pack writes it", "drydock submit pack 会生成该文件"}), msg.Text{"there is no %s", "没有 %s"}, declarationName)
	}
	for _, e := range c.problems {
		c.fails(at(declarationName, e.Where.Line), msg.Text{"%s", "%s"}, message{e})
	}
	roles := []role{roleReport, roleResults}
	if c.decl.Trains() {
		roles = append(roles, roleTrain)
	}
	for _, r := range roles {
		ran := false
		for _, g := range gates() {
			v := c.verdicts[g.id]
			ran = ran || (g.role == r && v != nil && v.Status != Skip && v.Status != Error)
		}
		if !ran {
			c.fails(at("", 0), msg.Text{"no gate could check the part %s", "没有任何检查能够覆盖 %s 部分"}, string(r))
		}
	}
	if c.declared {
		c.undeclared()
	}
	c.passes(msg.Text{"team %s, methods %s", "队伍 %s，方法 %s"}, c.decl.Team, msg.List(c.decl.Methods))
	return nil
}

// undeclared looks for parts of methods that the declaration does not name, and
// says which declared parts this version has no gates for.
func (c *check) undeclared() {
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(m string) bool { return slices.Contains(c.decl.Methods, m) })
	}
	for _, e := range c.bundle.entries {
		base := strings.ToLower(path.Base(e.name))
		missing := ""
		switch {
		case base == "adapter_config.json" && !has("lora", "qlora"):
			missing = "lora"
		case (strings.HasPrefix(e.name, "train/data/") || slices.Contains(c.decl.Train.Data, e.name)) && !c.decl.Trains():
			missing = "sft"
		case (strings.HasPrefix(e.name, "kb/") || slices.Contains([]string{".faiss", ".pkl", ".hnsw"}, path.Ext(base))) && !has("rag", "graphrag"):
			missing = "rag"
		case strings.HasPrefix(e.name, "agent/") && !has("agent", "workflow"):
			missing = "agent"
		}
		if missing != "" {
			c.fails(at(e.name, 0).fix(msg.Text{"add %s to methods, or take the file out", "在 methods 中加入 %s，或移除该文件"}, missing),
				msg.Text{"%s belongs to a method that is not declared (%s)", "%s 属于未声明的方法（%s）"}, e.name, missing)
		}
	}
	if has("rag", "graphrag") {
		c.warns(at("kb/", 0), msg.Text{"the knowledge base has no gates of its own in this version", "本版本尚无针对知识库的检查"})
	}
	if has("agent", "workflow") {
		c.warns(at("agent/", 0), msg.Text{"the agent or workflow has no gates of its own in this version", "本版本尚无针对智能体或工作流的检查"})
	}
}

func gateP02(c *check) error {
	team, ok := strings.CutSuffix(c.bundle.base, "_submission.zip")
	if !c.bundle.zipped {
		if team, ok = strings.CutSuffix(c.bundle.base, "_submission"); !ok {
			c.skips(nil, msg.Text{"a folder has no package name yet", "文件夹尚无提交包名"})
			return nil
		}
	}
	switch {
	case !ok:
		c.fails(at("", 0).want(c.decl.Team+"_submission.zip", c.bundle.base), msg.Text{"the name %q does not end in _submission.zip", "文件名 %q 不以 _submission.zip 结尾"}, c.bundle.base)
	case c.decl.Team != "" && team != c.decl.Team:
		c.fails(at("", 0).want(c.decl.Team+"_submission.zip", c.bundle.base), msg.Text{"the name says team %q, %s says %q", "文件名中的队名为 %q，%s 中为 %q"}, team, declarationName, c.decl.Team)
	case !plainTeam(team):
		c.fails(at("", 0), msg.Text{"the team %q should be letters, digits, - and _ only", "队名 %q 应只含文字、数字、- 和 _"}, team)
	}
	return nil
}

// plainTeam accepts ASCII letters and digits, Han characters, - and _.
func plainTeam(team string) bool {
	return team != "" && !strings.ContainsFunc(team, func(r rune) bool {
		return r != '-' && r != '_' && !unicode.Is(unicode.Han, r) && (r >= unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	})
}

func gateP03(c *check) error {
	for _, f := range c.bundle.unsafe {
		c.add(f)
	}
	for i, f := range c.facts {
		if f.err != nil {
			c.fails(at(c.bundle.entries[i].name, 0), msg.Text{"%s cannot be unpacked: %v", "%s 无法解压：%v"}, c.bundle.entries[i].name, f.err)
		}
	}
	c.passes(msg.Text{"files: %d", "共 %d 个文件"}, len(c.bundle.entries))
	return nil
}

func gateP04(c *check) error {
	if c.bundle.broken {
		c.skips(nil, msg.Text{"the package cannot be read (P03)", "提交包无法读取（见 P03）"})
		return nil
	}
	for _, f := range c.bundle.names {
		c.add(f)
	}
	return nil
}

func gateP05(c *check) error {
	if c.bundle.broken {
		c.skips(nil, msg.Text{"the package cannot be read (P03)", "提交包无法读取（见 P03）"})
		return nil
	}
	n := 0
	for i, f := range c.facts {
		name := c.bundle.entries[i].name
		if !f.text || f.err != nil {
			continue
		}
		n++
		toUTF8 := func(fd Finding) Finding {
			return fd.fix(msg.Text{"save it as UTF-8 without a byte order mark", "请另存为不带 BOM 的 UTF-8"})
		}
		ext := strings.ToLower(path.Ext(name))
		switch {
		case f.utf16:
			c.fails(toUTF8(at(name, 0)), msg.Text{"%s is UTF-16", "%s 为 UTF-16"}, name)
		case f.badAt >= 0:
			c.fails(toUTF8(at(name, f.badLine)), msg.Text{"%s is not UTF-8; the first wrong byte is at offset %d", "%s 不是 UTF-8；首个错误字节位于偏移 %d"}, name, f.badAt)
		case f.bom && (ext == ".jsonl" || ext == ".json"):
			c.fails(toUTF8(at(name, 1)), msg.Text{"%s begins with a byte order mark, which JSON readers refuse", "%s 以 BOM 开头，JSON 读取器会拒绝"}, name)
		}
		// a model may well answer with U+FFFD, so among the results it only warns
		if f.lostLine > 0 {
			fd := at(name, f.lostLine)
			if strings.HasPrefix(name, "results/") {
				c.warns(fd, msg.Text{"%s holds U+FFFD, the mark of a lost character", "%s 含 U+FFFD（字符丢失的标志）"}, name)
			} else {
				c.fails(fd.fix(msg.Text{"read the source again with its right encoding", "请用正确的编码重新读取来源"}), msg.Text{"%s holds U+FFFD, the mark of a lost character", "%s 含 U+FFFD（字符丢失的标志）"}, name)
			}
		}
	}
	c.passes(msg.Text{"text files: %d", "共 %d 个文本文件"}, n)
	return nil
}

func gateP06(c *check) error {
	if c.bundle.broken {
		c.skips(nil, msg.Text{"the package cannot be read (P03)", "提交包无法读取（见 P03）"})
		return nil
	}
	e, ok := c.bundle.find(manifestName)
	if !ok {
		c.fails(at(manifestName, 0).fix(msg.Text{"drydock submit pack writes it", "drydock submit pack 会生成该文件"}), msg.Text{"there is no %s", "没有 %s"}, manifestName)
		return nil
	}
	data, err := e.read(64 << 20)
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		sum, name, ok := strings.Cut(line, "  ")
		if !ok {
			sum, name, ok = strings.Cut(line, " *")
		}
		if !ok || len(sum) != 64 {
			c.fails(at(manifestName, n), msg.Text{"line %d is not “sha256  name”", "第 %d 行不是“sha256  文件名”格式"}, n)
			continue
		}
		name = strings.TrimPrefix(name, "./")
		f, there := c.factsOf(name)
		switch {
		case listed[name]:
			c.fails(at(manifestName, n), msg.Text{"%s is listed twice", "%s 重复列出"}, name)
		case !there:
			c.fails(at(manifestName, n), msg.Text{"%s is listed and not in the package", "清单中的 %s 不在提交包内"}, name)
		case f.err == nil && !strings.EqualFold(f.sha256, sum):
			c.fails(at(manifestName, n).want(sum, f.sha256), msg.Text{"%s is not the file that was listed", "%s 与清单所列不符"}, name)
		}
		listed[name] = true
	}
	for _, e := range c.bundle.entries {
		if e.name != manifestName && !listed[e.name] {
			c.fails(at(e.name, 0), msg.Text{"%s is not listed", "清单未列出 %s"}, e.name)
		}
	}
	c.passes(msg.Text{"files: %d", "共 %d 个文件"}, len(listed))
	return nil
}

func gateP07(c *check) error {
	if c.bundle.broken {
		c.skips(nil, msg.Text{"the package cannot be read (P03)", "提交包无法读取（见 P03）"})
		return nil
	}
	for i, f := range c.facts {
		name := c.bundle.entries[i].name
		if what, stray := strayFile(name); stray {
			c.fails(at(name, 0).fix(msg.Text{"take it out of the package", "请将其移出提交包"}), msg.Text{"%s does not belong in a package", "%s 不应出现在提交包中"}, what)
		}
		for _, s := range f.secrets {
			fd := at(name, s.line)
			switch s.kind {
			case "home_path":
				c.fails(fd.fix(msg.Text{"write the path relative to the project", "请改写为相对于项目的路径"}), msg.Text{"a path of somebody's machine: %s", "个人机器上的路径：%s"}, s.shown)
			case "private_key":
				c.fails(fd.fix(msg.Text{"take it out, and make a new key: this one must count as known", "请移除并更换密钥：该密钥应视为已泄露"}), msg.Text{"a private key", "私钥"})
			default:
				c.fails(fd.fix(msg.Text{"take it out, and revoke the key: it must count as known", "请移除并吊销该密钥：应视为已泄露"}), msg.Text{"what looks like an API key: %s", "疑似 API 密钥：%s"}, s.shown)
			}
		}
	}
	return nil
}
