//! An emulated cluster. Commands of the plan start and end it.

use super::plan::{LabCommands, Network};
use std::process::{Command, Stdio};

/// A cluster that may be up. Dropping the value ends the cluster.
#[derive(Debug)]
pub struct Lab<'plan> {
    commands: &'plan LabCommands,
    hosts: usize,
    /// The network that the cluster had last for certain; `None` if it is not up.
    network: Option<Network>,
    /// Whether the cluster still has this network.
    is_certain: bool,
}

impl<'plan> Lab<'plan> {
    /// Returns a lab whose cluster is not started yet.
    pub fn new(commands: &'plan LabCommands, hosts: usize) -> Self {
        Lab { commands, hosts, network: None, is_certain: false }
    }

    /// Gives the cluster the network that an experiment needs. Starts the cluster if it is not up.
    pub fn prepare(&mut self, network: &Network) -> Result<(), String> {
        if self.is_certain && self.network.as_ref() == Some(network) {
            return Ok(());
        }
        let template = if self.network.is_none() { &self.commands.up } else { &self.commands.set };
        // A command that fails may have changed the network already.
        self.is_certain = false;
        self.call(template, network)?;
        self.network = Some(network.clone());
        self.is_certain = true;
        Ok(())
    }

    /// Asks the cluster whether times that were measured on it are credible, if the plan has a command for that.
    pub fn check(&self) -> Result<(), String> {
        match (&self.commands.status, &self.network) {
            (Some(template), Some(network)) => self.call(template, network),
            _ => Ok(()),
        }
    }

    fn call(&self, template: &str, network: &Network) -> Result<(), String> {
        let words = words(template, self.hosts, network)?;
        let output = Command::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("{} cannot be started: {error}", words[0]))?;
        match output.status.success() {
            true => Ok(()),
            false => {
                Err(format!("`{}`: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
            }
        }
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        if let Some(network) = self.network.take()
            && let Err(error) = self.call(&self.commands.down, &network)
        {
            eprintln!("rustcoll: {error}");
        }
    }
}

fn words(template: &str, hosts: usize, network: &Network) -> Result<Vec<String>, String> {
    let words =
        shell_words::split(template).map_err(|_| format!("`{template}`: a quotation mark is not closed"))?;
    if words.is_empty() {
        return Err("the plan's lab lacks a command".into());
    }
    let Network { latency, bandwidth, gap } = network;
    let hosts = hosts.to_string();
    let texts = [("{hosts}", &hosts), ("{latency}", latency), ("{bandwidth}", bandwidth), ("{gap}", gap)];
    let fill = |word: String| texts.iter().fold(word, |word, (name, text)| word.replace(name, text));
    Ok(words.into_iter().map(fill).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_word_by_word() {
        let words = words("lab up {hosts} --latency {latency} --gap={gap}", 3, &network("1 ms")).unwrap();
        assert_eq!(words, ["lab", "up", "3", "--latency", "1 ms", "--gap=0us"]);
    }

    fn network(latency: &str) -> Network {
        Network { latency: latency.into(), bandwidth: "100Mbit/s".into(), gap: "0us".into() }
    }

    #[test]
    fn after_a_failure_no_network_is_taken_to_be_set() {
        let [up, set, down, run] = ["true", "false", "true", "true"].map(str::to_owned);
        let commands = LabCommands { up, set, run, down, status: None };
        let mut lab = Lab::new(&commands, 2);
        let told = Err("`false`: ".to_owned());
        assert_eq!(lab.prepare(&network("1ms")), Ok(()));
        assert_eq!(lab.prepare(&network("1ms")), Ok(()));
        assert_eq!(lab.prepare(&network("2ms")), told);
        assert_eq!(lab.prepare(&network("1ms")), told);
    }

    #[test]
    fn a_cluster_that_is_up_is_asked_how_it_did() {
        let [up, set, down, run] = ["true"; 4].map(str::to_owned);
        let status = Some("sh -c 'echo late >&2; exit 1'".to_owned());
        let commands = LabCommands { up, set, run, down, status };
        let mut lab = Lab::new(&commands, 2);
        assert_eq!(lab.check(), Ok(()));
        lab.prepare(&network("1ms")).unwrap();
        assert_eq!(lab.check(), Err("`sh -c echo late >&2; exit 1`: late".to_owned()));
    }
}
