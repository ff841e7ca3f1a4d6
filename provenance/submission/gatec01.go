package submission

import (
	"github.com/drydock-ml/drydock/internal/msg"
)

// gateC01 scans every training row with the engine of contam check, at its
// default settings.
func gateC01(c *check) error {
	if c.noTraining() {
		return nil
	}
	if ok, err := c.ready(); !ok {
		return err
	}
	index, err := c.index()
	if err != nil {
		return err
	}
	scanner := index.Scanner()
	name := c.decl.Benchmark.Name
	rows, files, shown := 0, 0, 0
	var others []entry
	for _, e := range c.trainFiles() {
		files++
		if !isJSONL(e.name) {
			others = append(others, e)
			continue
		}
		err := eachLine(c.ctx, e, func(line []byte, n int) {
			rows++
			found, err := scanner.Row(line)
			if err != nil {
				c.fails(at(e.name, n), msg.Text{"the row cannot be read and was not compared: %v", "该行无法读取，未作比对：%v"}, err)
				return
			}
			leak := false
			for _, f := range found {
				if f.Fail {
					leak = true
					c.fails(at(e.name, n).pointer(f.Record.Pointer).fix(msg.Text{"drydock contam check FILE --against %s --clean OUT removes it", "用 drydock contam check 文件 --against %s --clean 输出 可将其移除"}, name),
						msg.Text{"%s item %d: %s, score %.2f", "%s 第 %d 题：%s，得分 %.2f"}, name, f.Item.Index, string(f.Verdict), f.Score)
					break // one item a row is enough to name it
				}
			}
			if !leak && len(found) > 0 {
				shown++
			}
		})
		if err != nil {
			return err
		}
	}
	alike, err := c.scan(index, others)
	if err != nil {
		return err
	}
	c.passes(msg.Text{"%d {row|rows} of %d {file|files} compared with %d {item|items}; %d {looks|look} alike without being a leak", "已将 %d 行（%d 个文件）与 %d 道题比对；%d 行相似但不属泄漏"}, rows, files, index.Items(), shown+alike)
	return nil
}
