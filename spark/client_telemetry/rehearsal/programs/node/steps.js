// What the Node programs share: settings come in the environment, each step goes out as a line of JSON.
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

module.exports = { env, within, report, authentication };
