//! An emulated cluster. Commands of the plan start and end it.

use super::plan::{LabCommands, Network};
use std::process::{Command, Stdio};

/// A cluster that may be up. Dropping the value ends the cluster.
#[derive(Debug)]
pub struct Lab<'plan> {
    commands: &'plan LabCommands,
    hosts: usize,
    network: Option<Network>,
}

impl<'plan> Lab<'plan> {
    /// Returns a lab whose cluster is not started yet.
    pub fn new(commands: &'plan LabCommands, hosts: usize) -> Self {
        Lab { commands, hosts, network: None }
    }

    /// Gives the cluster the network that an experiment needs. Starts the cluster if it is not up.
    pub fn prepare(&mut self, network: &Network) -> Result<(), String> {
        if self.network.as_ref() == Some(network) {
            return Ok(());
        }
        let template = if self.network.is_none() { &self.commands.up } else { &self.commands.set };
        self.call(template, network)?;
        self.network = Some(network.clone());
        Ok(())
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
        let network = Network { latency: "1 ms".into(), bandwidth: "100Mbit/s".into(), gap: "0us".into() };
        let words = words("lab up {hosts} --latency {latency} --gap={gap}", 3, &network).unwrap();
        assert_eq!(words, ["lab", "up", "3", "--latency", "1 ms", "--gap=0us"]);
    }
}
