// What the Node programs share: settings come in the environment, each step goes out as a line of JSON.
const fs = require("fs");

const env = (name) => process.env[name] || "";

function within(seconds, promise) {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`nothing in ${seconds} s`)), seconds * 1000));
  return Promise.race([promise, late]);
}

async function report(step, work) {
  let outcome = typeof work === "string" ? work : "ok";
  if (typeof work === "function") {
    try {
      await within(45, work());
    } catch (error) {
      outcome = `${error.name}: ${error.message}`;
      for (const cause of error.errors || []) outcome += `; ${cause.message}`;
    }
  }
  console.log(JSON.stringify({ step, outcome }));
  return outcome === "ok";
}

function authentication(of) {
  return env("MECHANISM") ? of(env("MECHANISM"), env("USERNAME"), env("PASSWORD")) : {};
}

// Files of TLS, as Node takes them; undefined without.
function tls() {
  if (!env("PROTOCOL").endsWith("SSL")) return undefined;
  const read = (name) => fs.readFileSync(env(name), "utf8");
  return { ca: [read("CA")], cert: read("CERTIFICATE"), key: read("KEY") };
}

module.exports = { env, within, report, authentication, tls };
