// A small site in the folder `site`: each page is a resource, and the index depends on the pages that it lists.
//
// The provider of pages stands in this program, so that nothing has to be installed besides the SDK.

const pulumi = require("@pulumi/pulumi");

const pages = {
    async create({ file, text }) {
        write(file, text);
        return { id: file, outs: { file, text } };
    },
    async read(file, { text }) {
        const fs = require("fs");
        return fs.existsSync(file) ? { id: file, props: { file, text: fs.readFileSync(file, "utf8") } } : {};
    },
    async diff(id, olds, news) {
        // Another file is another page: it is made before the old one goes.
        const replaces = olds.file === news.file ? [] : ["file"];
        return { changes: replaces.length > 0 || olds.text !== news.text, replaces };
    },
    async update(id, olds, { file, text }) {
        write(file, text);
        return { outs: { file, text } };
    },
    async delete(file) {
        require("fs").rmSync(file, { force: true });
    },
};

function write(file, text) {
    const fs = require("fs");
    fs.mkdirSync(require("path").dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
}

class Page extends pulumi.dynamic.Resource {
    constructor(name, { text }, options) {
        super(pages, name, { file: `site/${name}.html`, text }, options);
    }
}

const title = new pulumi.Config().require("title");
const walls = new Page("walls", { text: "<p>A wall without mortar stands by the weight of its stones.</p>\n" });
const gates = new Page("gates", { text: "<p>A gate is where the wall lets you through.</p>\n" });
const index = new Page("index", {
    text: pulumi.all([walls.file, gates.file]).apply(files => {
        const links = files.map(file => `<a href="${file.replace("site/", "")}">${file}</a>`);
        return `<h1>${title}</h1>\n${links.join("\n")}\n`;
    }),
});

exports.index = index.file;
exports.pages = [walls.file, gates.file];
