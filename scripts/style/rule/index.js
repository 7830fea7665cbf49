// A rule of textlint: a sentence has at most so many words. Code within a line is one word. Tables and blocks of code have no
// sentences. textlint-rule-en-max-word-count takes the end of a line for the end of a sentence, and so cannot serve here.

const { split, SentenceSplitterSyntax } = require('sentence-splitter');
const { StringSource } = require('textlint-util-to-string');

const words = (sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));

module.exports = ({ Syntax, RuleError, report, locator }, { most = 35 } = {}) => ({
  [Syntax.Paragraph](paragraph) {
    const text = new StringSource(paragraph, {
      replacer({ node, maskValue }) {
        return node.type === Syntax.Code ? maskValue('x') : undefined;
      },
    });
    // A dot within a name ends no sentence, and neither does the end of a line.
    const plain = text.toString().replace(/\n/g, ' ');
    for (const sentence of split(plain)) {
      if (sentence.type !== SentenceSplitterSyntax.Sentence) continue;
      const count = words(sentence.raw).length;
      if (process.env.STYLE_COUNTS) console.error(`count ${count}`);
      if (count <= most) continue;
      const start = text.originalIndexFromIndex(sentence.range[0]) ?? 0;
      report(paragraph, new RuleError(`${count} words in a sentence, more than ${most}`, { padding: locator.at(start) }));
    }
  },
});
